// Optimizers, losses and gradients, where training graphs are met.
#include "ops/common_work.h"
#include "ops/registry.h"

namespace kcharter {

OperatorFamily training_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kTraining, "Adagrad", {.work = per_input_element<8>}},
      {kTraining, "Adam", {.work = per_input_element<12>}},
      {kTraining, "Momentum", {.work = per_input_element<4>}},
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
