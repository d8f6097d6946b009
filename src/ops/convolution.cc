// Convolutions: each output element of Conv is a sum over one filter, each input element of
// ConvTranspose is spread over one.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// Elements of one filter, [M, C/group, k…] or, for channels last, [M, k…, C/group].
Dim filter_taps(const Graph& graph, const Node& node, size_t filter) {
  const Shape* shape = input_shape(graph, node, filter);
  return shape == nullptr ? Dim() : product(*shape, 1, shape->size());
}

Work conv_with(const Graph& graph, const Node& node, size_t filter, int64_t per_output) {
  Dim outputs = output_elements(graph, node);
  return {.flops = times(times(Expr(2), filter_taps(graph, node, filter)), outputs),
          .elementwise_flops = times(Expr(per_output), outputs)};
}

Work conv_work(const Graph& graph, const Node& node) {
  return conv_with(graph, node, 1, has_input(node, 2) ? 1 : 0);
}

// One more addition where a sum (input 3) is fused in.
Work fused_conv_work(const Graph& graph, const Node& node) {
  return conv_with(graph, node, 1, 1 + (has_input(node, 2) ? 1 : 0) + (has_input(node, 3) ? 1 : 0));
}

Work conv_integer_work(const Graph& graph, const Node& node) {
  return conv_with(graph, node, 1, 0);
}

// Rescale and round, the bias where there is one.
Work qlinear_conv_work(const Graph& graph, const Node& node) {
  return conv_with(graph, node, 3, has_input(node, 8) ? 3 : 2);
}

// Filter [C, M/group, k…].
Work conv_transpose_work(const Graph& graph, const Node& node) {
  Dim taps = filter_taps(graph, node, 1);
  return {.flops = times(times(Expr(2), taps), input_elements(graph, node, 0)),
          .elementwise_flops = has_input(node, 2) ? output_elements(graph, node) : Dim(Expr(0))};
}

// As Conv; each tap is interpolated between four neighbours (7 operations, 2-D).
Work deform_conv_work(const Graph& graph, const Node& node) {
  Work work = conv_work(graph, node);
  Dim offsets = input_elements(graph, node, 2);
  work.elementwise_flops = times(Expr(4), offsets);
  return work;
}

// Depthwise over time with a carried state: [batch, channels, length], filter [channels, 1, k].
Work causal_conv_work(const Graph& graph, const Node& node) {
  return conv_with(graph, node, 1, has_input(node, 2) ? 1 : 0);
}

TensorPart integer_part(const Node&, size_t input) { return part_at("ppzz", input); }
TensorPart qlinear_part(const Node&, size_t input) { return part_at("pszpszsz.", input); }

}  // namespace

OperatorFamily convolution_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Conv", {.work = conv_work}},
      {kOnnx, "ConvTranspose", {.work = conv_transpose_work}},
      {kOnnx, "ConvInteger", {.work = conv_integer_work, .tensor_part = integer_part}},
      {kOnnx, "QLinearConv", {.work = qlinear_conv_work, .tensor_part = qlinear_part}},
      {kOnnx, "DeformConv", {.work = deform_conv_work}},
      {kOnnx, "CausalConvWithState", {.is_recurrent = true, .work = causal_conv_work}},
      {kMicrosoft, "CausalConvWithState", {.is_recurrent = true, .work = causal_conv_work}},
      {kMicrosoft, "FusedConv", {.work = fused_conv_work}},
      {kMicrosoft, "NhwcConv", {.work = conv_work}},
      {kMicrosoft, "NhwcFusedConv", {.work = fused_conv_work}},
      {kMicrosoft, "QLinearConv", {.work = qlinear_conv_work, .tensor_part = qlinear_part}},
      {kMicrosoft, "ConvTransposeWithDynamicPads", {.work = conv_transpose_work}},
      {kMicrosoftNchwc, "Conv", {.work = fused_conv_work}},
  };
  return kEntries;
}

}  // namespace kcharter
