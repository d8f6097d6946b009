// Reductions and scans: so many operations per input element.
#include "ops/common_work.h"

namespace kcharter {

OperatorFamily reduction_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "ReduceSum", {.work = per_input_element<1>}},
      {kOnnx, "ReduceMean", {.work = per_input_element<1>}},
      {kOnnx, "ReduceMax", {.work = per_input_element<1>}},
      {kOnnx, "ReduceMin", {.work = per_input_element<1>}},
      {kOnnx, "ReduceProd", {.work = per_input_element<1>}},
      {kOnnx, "ReduceL1", {.work = per_input_element<2>}},
      {kOnnx, "ReduceL2", {.work = per_input_element<2>}},
      {kOnnx, "ReduceSumSquare", {.work = per_input_element<2>}},
      {kOnnx, "ReduceLogSum", {.work = per_input_element<1>}},
      {kOnnx, "ReduceLogSumExp", {.work = per_input_element<2>}},
      {kOnnx, "ArgMax", {.work = per_input_element<1>}},
      {kOnnx, "ArgMin", {.work = per_input_element<1>}},
      {kOnnx, "CumSum", {.work = per_input_element<1>}},
      {kOnnx, "CumProd", {.work = per_input_element<1>}},
      {kOnnx, "NegativeLogLikelihoodLoss", {.work = per_input_element<1>}},
      {kOnnx, "SoftmaxCrossEntropyLoss", {.work = per_input_element<6>}},
      // One overlap per box and class at least; suppression depends on the data.
      {kOnnx, "NonMaxSuppression", {.work = per_input_element<4>}},
      {kMicrosoft, "ReduceSumInteger", {.work = per_input_element<1>}},
      {kMicrosoft, "ReduceAllL2", {.work = per_input_element<2>}},
      {kMicrosoft, "QLinearReduceMean", {.work = per_input_element<1>}},
      {kMicrosoft, "CDist", {.work = per_input_element<3>}},
  };
  return kEntries;
}

}  // namespace kcharter
