// Operators that compute element by element: the shape is that of the operand, or of all of them
// broadcast together.
#include <cctype>

#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

std::optional<Shape> broadcast_all(const NodeInference& node) {
  return broadcast_inputs(node, 0, node.input_count() - 1);
}

// Before version 7 the second operand is aligned to `axis` of the first, whose shape stays.
std::optional<Shape> binary_shape(const NodeInference& node) {
  const bool aligned =
      node.node.domain.empty() && node.node.since_version > 0 && node.node.since_version < 7 &&
      (find_attribute(node.node, "axis") || find_attribute(node.node, "broadcast"));
  if (aligned) {
    const Shape* first = node.input_shape(0);
    return first == nullptr ? std::nullopt : std::optional(*first);
  }
  return broadcast_all(node);
}

void arithmetic(NodeInference& node) { node.set(0, first_dtype(node, {0, 1}), binary_shape(node)); }

void predicate(NodeInference& node) { node.set(0, DType::kBool, binary_shape(node)); }

void variadic(NodeInference& node) { node.set(0, first_dtype(node, {0, 1}), broadcast_all(node)); }

void unary_predicate(NodeInference& node) { node.set(0, DType::kBool, node.input(0).shape); }

void where(NodeInference& node) {
  node.set(0, first_dtype(node, {1, 2}), broadcast_inputs(node, 0, 2));
}

void cast(NodeInference& node) {
  // Version 1 names the type: to = "FLOAT".
  DType dtype = dtype_of_onnx(int_attribute(node.node, "to", 0));
  if (dtype == DType::kUnknown) {
    std::string text = string_attribute(node.node, "to", "");
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    dtype = text == "float"    ? DType::kF32
            : text == "double" ? DType::kF64
                               : parse_dtype(text).value_or(dtype);
  }
  node.set(0, dtype, node.input(0).shape);
}

void cast_like(NodeInference& node) { node.set(0, node.input_dtype(1), node.input(0).shape); }

// The same bits under another type; the last axis is not regrouped.
void bit_cast(NodeInference& node) {
  const DType dtype = dtype_of_onnx(int_attribute(node.node, "to", 0));
  node.set(0, dtype, node.input(0).shape);
}

// The second output is the mask.
void dropout(NodeInference& node) {
  node.set(0, node.input(0));
  const bool old = node.node.since_version > 0 && node.node.since_version < 10;
  node.set(1, old ? node.input_dtype(0) : DType::kBool, node.input(0).shape);
}

// Random like the input, of another dtype where the attribute says so.
void random_like(NodeInference& node) {
  const DType asked = dtype_of_onnx(int_attribute(node.node, "dtype", 0));
  node.set(0, asked == DType::kUnknown ? node.input_dtype(0) : asked, node.input(0).shape);
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "Add", arithmetic},
    {kOnnx, "Sub", arithmetic},
    {kOnnx, "Mul", arithmetic},
    {kOnnx, "Div", arithmetic},
    {kOnnx, "Pow", arithmetic},
    {kOnnx, "Mod", arithmetic},
    {kOnnx, "BitShift", arithmetic},
    {kOnnx, "BitwiseAnd", arithmetic},
    {kOnnx, "BitwiseOr", arithmetic},
    {kOnnx, "BitwiseXor", arithmetic},
    {kOnnx, "StringConcat", arithmetic},
    {kOnnx, "PRelu", same_as_first_input},
    {kOnnx, "And", predicate},
    {kOnnx, "Or", predicate},
    {kOnnx, "Xor", predicate},
    {kOnnx, "Equal", predicate},
    {kOnnx, "Less", predicate},
    {kOnnx, "Greater", predicate},
    {kOnnx, "LessOrEqual", predicate},
    {kOnnx, "GreaterOrEqual", predicate},
    {kOnnx, "Max", variadic},
    {kOnnx, "Min", variadic},
    {kOnnx, "Mean", variadic},
    {kOnnx, "Sum", variadic},
    {kOnnx, "Where", where},
    {kOnnx, "IsInf", unary_predicate},
    {kOnnx, "IsNaN", unary_predicate},
    {kOnnx, "Not", unary_predicate},
    {kOnnx, "RegexFullMatch", unary_predicate},
    {kOnnx, "Cast", cast},
    {kOnnx, "CastLike", cast_like},
    {kOnnx, "BitCast", bit_cast},
    {kOnnx, "Dropout", dropout},
    {kOnnx, "Bernoulli", random_like},
    {kOnnx, "RandomNormalLike", random_like},
    {kOnnx, "RandomUniformLike", random_like},
    {kOnnx, "SwiGLU", same_as_first_input},
    {kOnnx, "Abs", same_as_first_input},
    {kOnnx, "Acos", same_as_first_input},
    {kOnnx, "Acosh", same_as_first_input},
    {kOnnx, "Affine", same_as_first_input},
    {kOnnx, "Asin", same_as_first_input},
    {kOnnx, "Asinh", same_as_first_input},
    {kOnnx, "Atan", same_as_first_input},
    {kOnnx, "Atanh", same_as_first_input},
    {kOnnx, "BitwiseNot", same_as_first_input},
    {kOnnx, "Ceil", same_as_first_input},
    {kOnnx, "Celu", same_as_first_input},
    {kOnnx, "Clip", same_as_first_input},
    {kOnnx, "Cos", same_as_first_input},
    {kOnnx, "Cosh", same_as_first_input},
    {kOnnx, "Elu", same_as_first_input},
    {kOnnx, "Erf", same_as_first_input},
    {kOnnx, "Exp", same_as_first_input},
    {kOnnx, "Floor", same_as_first_input},
    {kOnnx, "Gelu", same_as_first_input},
    {kOnnx, "HardSigmoid", same_as_first_input},
    {kOnnx, "HardSwish", same_as_first_input},
    {kOnnx, "ImageScaler", same_as_first_input},
    {kOnnx, "LeakyRelu", same_as_first_input},
    {kOnnx, "Log", same_as_first_input},
    {kOnnx, "Mish", same_as_first_input},
    {kOnnx, "Neg", same_as_first_input},
    {kOnnx, "ParametricSoftplus", same_as_first_input},
    {kOnnx, "Reciprocal", same_as_first_input},
    {kOnnx, "Relu", same_as_first_input},
    {kOnnx, "Round", same_as_first_input},
    {kOnnx, "ScaledTanh", same_as_first_input},
    {kOnnx, "Scale", same_as_first_input},
    {kOnnx, "Selu", same_as_first_input},
    {kOnnx, "Shrink", same_as_first_input},
    {kOnnx, "Sigmoid", same_as_first_input},
    {kOnnx, "Sign", same_as_first_input},
    {kOnnx, "Sin", same_as_first_input},
    {kOnnx, "Sinh", same_as_first_input},
    {kOnnx, "Softplus", same_as_first_input},
    {kOnnx, "Softsign", same_as_first_input},
    {kOnnx, "Sqrt", same_as_first_input},
    {kOnnx, "Swish", same_as_first_input},
    {kOnnx, "Tan", same_as_first_input},
    {kOnnx, "Tanh", same_as_first_input},
    {kOnnx, "ThresholdedRelu", same_as_first_input},
    {kMicrosoft, "BiasGelu", same_as_first_input},
    {kMicrosoft, "BiasAdd", same_as_first_input},
    {kMicrosoft, "FastGelu", same_as_first_input},
    {kMicrosoft, "Gelu", same_as_first_input},
    {kMicrosoft, "QuickGelu", same_as_first_input},
};

}  // namespace

ShapeRuleFamily elementwise_shape_rules() { return kEntries; }

}  // namespace kcharter
