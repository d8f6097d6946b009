// Normalisations and softmax, counted by the operations of their definition.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// maximum, difference, exponential, sum, quotient.
constexpr int kSoftmax = 5;
// sum, difference, square, sum, ·1/σ, ·γ, +β.
constexpr int kLayerNorm = 7;
// square, sum, ·1/rms, ·γ.
constexpr int kRmsNorm = 4;

Work lrn_work(const Graph& graph, const Node& node) {
  // squares and their sum over `size` channels, then ·α, +bias, power, quotient
  int64_t size = int_attribute(node, "size", 1);
  return {.elementwise_flops = times(Expr(size) + Expr(5), output_elements(graph, node))};
}

// Inputs: x, residual, γ, β (not for the simplified form), bias; each of the additions is one more.
template <int kNorm, size_t kBias>
Work skip_norm_work(const Graph& graph, const Node& node) {
  int64_t operations = kNorm + 1 + (has_input(node, kBias) ? 1 : 0);
  return {.elementwise_flops = times(Expr(operations), output_elements(graph, node))};
}

// Rows of the three tables are gathered, added and normalised: ids 0, 1; tables 2, 3, 4.
Work embed_layer_norm_work(const Graph& graph, const Node& node) {
  Dim outputs = output_elements(graph, node);
  Dim all_ids = input_elements(graph, node, 0);
  Work work{.elementwise_flops = times(Expr(kLayerNorm + 2), outputs)};
  work.read_elements = {all_ids, input_elements(graph, node, 1), outputs, outputs,
                        has_input(node, 4) ? outputs : Dim(Expr(0))};
  return work;
}

// The tables and the vectors are quantized, each with a scale and a zero point.
TensorPart quantized_embedding_part(const Node&, size_t input) {
  return part_at("..ppppp.ssssszzzzz", input);
}
TensorPart ordered_part(const Node&, size_t input) { return part_at("ps", input); }

}  // namespace

OperatorFamily normalization_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Softmax", {.work = per_output_element<kSoftmax>}},
      {kOnnx, "LogSoftmax", {.work = per_output_element<kSoftmax>}},
      {kOnnx, "Hardmax", {.work = per_output_element<1>}},
      {kOnnx, "BatchNormalization", {.work = per_output_element<2>}},
      {kOnnx, "InstanceNormalization", {.work = per_output_element<kLayerNorm>}},
      {kOnnx, "GroupNormalization", {.work = per_output_element<kLayerNorm>}},
      {kOnnx, "LayerNormalization", {.work = per_output_element<kLayerNorm>}},
      {kOnnx, "RMSNormalization", {.work = per_output_element<kRmsNorm>}},
      {kOnnx, "SimplifiedLayerNormalization", {.work = per_output_element<kRmsNorm>}},
      {kOnnx, "MeanVarianceNormalization", {.work = per_output_element<5>}},
      {kOnnx, "LpNormalization", {.work = per_output_element<3>}},
      {kOnnx, "LRN", {.work = lrn_work}},
      {kMicrosoft, "LayerNormalization", {.work = per_output_element<kLayerNorm>}},
      {kMicrosoft, "SimplifiedLayerNormalization", {.work = per_output_element<kRmsNorm>}},
      {kMicrosoft, "SkipLayerNormalization", {.work = skip_norm_work<kLayerNorm, 4>}},
      {kMicrosoft, "SkipSimplifiedLayerNormalization", {.work = skip_norm_work<kRmsNorm, 3>}},
      {kMicrosoft, "SkipGroupNorm", {.work = per_output_element<kLayerNorm + 1>}},
      {kMicrosoft, "GroupNorm", {.work = per_output_element<kLayerNorm>}},
      {kMicrosoft, "EmbedLayerNormalization", {.work = embed_layer_norm_work}},
      {kMicrosoft,
       "QEmbedLayerNormalization",
       {.work = embed_layer_norm_work, .tensor_part = quantized_embedding_part}},
      {kMicrosoft,
       "QOrderedLayerNormalization",
       {.work = per_output_element<kLayerNorm + 2>, .tensor_part = ordered_part}},
      {kMicrosoft, "BiasSoftmaxDropout", {.work = per_output_element<kSoftmax + 2>}},
      {kMicrosoft, "BatchNormInternal", {.work = per_output_element<6>}},
      {kMicrosoft, "BiasSoftmax", {.work = per_output_element<kSoftmax + 1>}},
      {kMicrosoft, "QLinearSoftmax", {.work = per_output_element<kSoftmax + 2>}},
  };
  return kEntries;
}

}  // namespace kcharter
