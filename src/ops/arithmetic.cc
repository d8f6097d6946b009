// Elementwise operators: one operation per output element, whatever the function; activations that
// are defined by a formula count the operations of that formula.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// Variadic: one operation for each input after the first.
Work fold_inputs(const Graph& graph, const Node& node) {
  int64_t operations = static_cast<int64_t>(node.inputs.size()) - 1;
  return {.elementwise_flops = times(Expr(operations), output_elements(graph, node))};
}

Work mean_of_inputs(const Graph& graph, const Node& node) {
  int64_t operations = static_cast<int64_t>(node.inputs.size());
  return {.elementwise_flops = times(Expr(operations), output_elements(graph, node))};
}

// x/√2, erf, +1, ·x, ·½.
constexpr int kGelu = 5;
// x³ by 2, ·0.044715, +x, ·√(2/π), tanh, +1, ·x, ·½.
constexpr int kFastGelu = 9;

}  // namespace

OperatorFamily arithmetic_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Abs", {}},
      {kOnnx, "Acos", {}},
      {kOnnx, "Acosh", {}},
      {kOnnx, "Add", {}},
      {kOnnx, "Affine", {}},
      {kOnnx, "And", {}},
      {kOnnx, "Asin", {}},
      {kOnnx, "Asinh", {}},
      {kOnnx, "Atan", {}},
      {kOnnx, "Atanh", {}},
      {kOnnx, "BitShift", {}},
      {kOnnx, "BitwiseAnd", {}},
      {kOnnx, "BitwiseNot", {}},
      {kOnnx, "BitwiseOr", {}},
      {kOnnx, "BitwiseXor", {}},
      {kOnnx, "Ceil", {}},
      {kOnnx, "Clip", {}},
      {kOnnx, "Cos", {}},
      {kOnnx, "Cosh", {}},
      {kOnnx, "Div", {}},
      {kOnnx, "Elu", {}},
      {kOnnx, "Equal", {}},
      {kOnnx, "Erf", {}},
      {kOnnx, "Exp", {}},
      {kOnnx, "Floor", {}},
      {kOnnx, "Greater", {}},
      {kOnnx, "GreaterOrEqual", {}},
      {kOnnx, "HardSigmoid", {}},
      {kOnnx, "ImageScaler", {}},
      {kOnnx, "IsInf", {}},
      {kOnnx, "IsNaN", {}},
      {kOnnx, "LeakyRelu", {}},
      {kOnnx, "Less", {}},
      {kOnnx, "LessOrEqual", {}},
      {kOnnx, "Log", {}},
      {kOnnx, "Mod", {}},
      {kOnnx, "Mul", {}},
      {kOnnx, "Neg", {}},
      {kOnnx, "Not", {}},
      {kOnnx, "Or", {}},
      {kOnnx, "PRelu", {}},
      {kOnnx, "ParametricSoftplus", {}},
      {kOnnx, "Pow", {}},
      {kOnnx, "Reciprocal", {}},
      {kOnnx, "Relu", {}},
      {kOnnx, "Round", {}},
      {kOnnx, "ScaledTanh", {}},
      {kOnnx, "Selu", {}},
      {kOnnx, "Shrink", {}},
      {kOnnx, "Sigmoid", {}},
      {kOnnx, "Sign", {}},
      {kOnnx, "Sin", {}},
      {kOnnx, "Sinh", {}},
      {kOnnx, "Softplus", {}},
      {kOnnx, "Softsign", {}},
      {kOnnx, "Sqrt", {}},
      {kOnnx, "Sub", {}},
      {kOnnx, "Tan", {}},
      {kOnnx, "Tanh", {}},
      {kOnnx, "ThresholdedRelu", {}},
      {kOnnx, "Where", {}},
      {kOnnx, "Xor", {}},
      {kOnnx, "Celu", {}},
      {kOnnx, "Max", {.work = fold_inputs}},
      {kOnnx, "Min", {.work = fold_inputs}},
      {kOnnx, "Sum", {.work = fold_inputs}},
      {kOnnx, "Mean", {.work = mean_of_inputs}},
      {kOnnx, "HardSwish", {.work = per_output_element<2>}},
      {kOnnx, "Swish", {.work = per_output_element<2>}},
      {kOnnx, "Mish", {.work = per_output_element<3>}},
      {kOnnx, "Gelu", {.work = per_output_element<kGelu>}},
      {kOnnx, "SwiGLU", {.work = per_output_element<3>}},
      {kMicrosoft, "Gelu", {.work = per_output_element<kGelu>}},
      {kMicrosoft, "BiasGelu", {.work = per_output_element<kGelu + 1>}},
      {kMicrosoft, "BiasAdd", {.work = per_output_element<2>}},
      {kMicrosoft, "BiasSplitGelu", {.work = per_output_element<kGelu + 2>}},
      {kMicrosoft, "FastGelu", {.work = per_output_element<kFastGelu>}},
      {kMicrosoft, "QuickGelu", {.work = per_output_element<3>}},
      {kMicrosoft, "BiasDropout", {.work = per_output_element<1>}},
      {kMicrosoft, "Rfft", {.work = nullptr}},
      {kMicrosoft, "Irfft", {.work = nullptr}},
      {kMicrosoft, "ComplexMul", {.work = per_output_element<3>}},
      {kMicrosoft, "ComplexMulConj", {.work = per_output_element<3>}},
      {kMicrosoft, "BifurcationDetector", {.work = per_input_element<1>}},
      {kMicrosoft, "DynamicTimeWarping", {.work = per_input_element<3>}},
      {kMicrosoft, "MurmurHash3", {.work = per_input_element<1>}},
      {kMicrosoft, "NGramRepeatBlock", {.work = per_output_element<1>}},
      {kMicrosoft, "IsFinite", {}},
      {kMicrosoft, "IsAllFinite", {.work = per_input_element<1>}},
  };
  return kEntries;
}

}  // namespace kcharter
