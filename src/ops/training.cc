// Optimizers, losses and gradients, where training graphs are met.
#include "ops/common_work.h"
#include "ops/registry.h"

namespace kcharter {
namespace {

// dY [N, M, ..], X, W [M, C/group, ..]: the gradients of the data and of the filters are each a
// convolution of the same size.
Work convolution_gradient(const Graph& graph, const Node& node) {
  const Shape* filter = input_shape(graph, node, 2);
  Dim taps = filter == nullptr ? Dim() : product(*filter, 1, filter->size());
  int64_t asked = (has_output(node, 0) ? 1 : 0) + (has_output(node, 1) ? 1 : 0);
  Dim gradients = input_elements(graph, node, 0);
  return {.flops = times(times(Expr(2 * asked), taps), gradients),
          .elementwise_flops = has_output(node, 2) ? gradients : Dim(Expr(0))};
}

// The tensor that is updated is an input in the middle.
template <int kOperations, size_t kInput>
Work per_element_of(const Graph& graph, const Node& node) {
  return {.elementwise_flops = times(Expr(kOperations), input_elements(graph, node, kInput))};
}

}  // namespace

OperatorFamily training_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kTraining, "Adagrad", {.work = per_input_element<8>}},
      {kTraining, "Adam", {.work = per_input_element<12>}},
      {kTraining, "Momentum", {.work = per_input_element<4>}},
      {kMicrosoft, "AdamOptimizer", {.work = per_element_of<12, 2>}},
      {kMicrosoft, "AllGather", {.work = moves_data}},
      {kMicrosoft, "AllReduce", {.work = per_output_element<1>}},
      {kMicrosoft, "AllToAll", {.work = moves_data}},
      {kMicrosoft, "NcclAllGather", {.work = moves_data}},
      {kMicrosoft, "NcclAllReduce", {.work = per_output_element<1>}},
      {kMicrosoft, "NcclReduceScatter", {.work = per_input_element<1>}},
      {kMicrosoft, "AveragePoolGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "BatchNormalizationGrad", {.work = per_output_element<11>}},
      {kMicrosoft, "BitmaskBiasDropout", {.work = per_output_element<3>}},
      {kMicrosoft, "ConvGrad", {.work = convolution_gradient}},
      {kMicrosoft, "FakeQuantGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "GatherElementsGrad", {.work = per_input_element<1>}},
      {kMicrosoft, "GatherNDGrad", {.work = per_element_of<1, 2>}},
      {kMicrosoft, "Group", {.is_view = true}},
      {kMicrosoft, "InvertibleLayerNormalizationGrad", {.work = per_output_element<11>}},
      {kMicrosoft, "LeakyReluGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "LogSoftmaxGrad", {.work = per_output_element<4>}},
      {kMicrosoft, "MaxPoolGrad", {.work = per_input_element<1>}},
      {kMicrosoft, "MixedPrecisionScale", {.work = per_element_of<1, 1>}},
      {kMicrosoft, "PadGrad", {.work = moves_data}},
      {kMicrosoft, "QuickGeluGrad", {.work = per_output_element<6>}},
      {kMicrosoft, "SGDOptimizer", {.work = per_element_of<2, 1>}},
      {kMicrosoft, "SoftmaxCrossEntropy", {.work = per_input_element<6>}},
      {kMicrosoft, "SoftmaxCrossEntropyGrad", {.work = per_output_element<2>}},
      {kMicrosoft, "SoftmaxDropoutGrad", {.work = per_output_element<5>}},
      {kMicrosoft, "SoftmaxGrad", {.work = per_output_element<4>}},
      {kMicrosoft, "TileGrad", {.work = per_input_element<1>}},
      {kMicrosoft, "ZeroGradient", {.work = moves_data}},
      {kMicrosoft, "BiasFastGeluGrad_dX", {.work = per_output_element<12>}},
      {kMicrosoft, "BiasGeluGrad_dX", {.work = per_output_element<11>}},
      {kMicrosoft, "BitmaskDropout", {.work = per_output_element<1>}},
      {kMicrosoft, "BitmaskDropoutGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "BroadcastGradientArgs", {.is_shape_arithmetic = true}},
      {kMicrosoft, "DropoutGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "FastGeluGrad", {.work = per_output_element<12>}},
      {kMicrosoft, "GatherGrad", {.work = per_input_element<1>}},
      {kMicrosoft, "GeluGrad", {.work = per_output_element<10>}},
      {kMicrosoft, "InPlaceAccumulator", {.work = per_input_element<1>}},
      {kMicrosoft, "InPlaceAccumulatorV2", {.work = per_input_element<1>}},
      {kMicrosoft, "LayerNormalizationGrad", {.work = per_output_element<11>}},
      {kMicrosoft, "LogSoftmaxGrad_13", {.work = per_output_element<4>}},
      {kMicrosoft, "Recv", {.work = moves_data}},
      {kMicrosoft, "ReluGrad", {.work = per_output_element<1>}},
      {kMicrosoft, "Send", {.work = moves_data}},
      {kMicrosoft, "SigmoidGrad", {.work = per_output_element<3>}},
      {kMicrosoft, "SimplifiedLayerNormalizationGrad", {.work = per_output_element<9>}},
      {kMicrosoft, "SliceGrad", {.work = moves_data}},
      {kMicrosoft, "SoftmaxCrossEntropyLossGrad", {.work = per_output_element<2>}},
      {kMicrosoft, "SoftmaxCrossEntropyLossInternal", {.work = per_input_element<6>}},
      {kMicrosoft, "SoftmaxCrossEntropyLossInternalGrad", {.work = per_output_element<2>}},
      {kMicrosoft, "SoftmaxGrad_13", {.work = per_output_element<4>}},
      {kMicrosoft, "TanhGrad", {.work = per_output_element<3>}},
      {kMicrosoft, "YieldOp", {.is_view = true}},
  };
  return kEntries;
}

}  // namespace kcharter
