// Operators that make a tensor from a shape, from attributes or from a few numbers.
#include <algorithm>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

void set_literal(NodeInference& node, const Literal& literal) {
  node.set(0, literal.dtype, shape_of(literal.dims));
  if (const auto elements = elements_of(literal)) node.set_elements(0, *elements);
}

// A Constant whose payload was left on disk keeps its declared type.
void constant_rule(NodeInference& node) {
  for (const Attribute& attribute : node.node.attributes) {
    if (const auto* literal = std::get_if<Literal>(&attribute.value)) {
      return set_literal(node, *literal);
    }
    if (attribute.name == "value_int") {
      return set_literal(node, {DType::kInt64, {}, {int_attribute(node.node, "value_int", 0)}, {}});
    }
    if (attribute.name == "value_float") {
      return set_literal(node,
                         {DType::kF32, {}, {}, {float_attribute(node.node, "value_float", 0)}});
    }
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute.value)) {
      return set_literal(node,
                         {DType::kInt64, {static_cast<int64_t>(numbers->size())}, *numbers, {}});
    }
    if (const auto* numbers = std::get_if<std::vector<double>>(&attribute.value)) {
      return set_literal(node,
                         {DType::kF32, {static_cast<int64_t>(numbers->size())}, {}, *numbers});
    }
    if (std::holds_alternative<std::string>(attribute.value)) {
      return node.set(0, DType::kString, Shape{});
    }
    if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value)) {
      return node.set(0, DType::kString, Shape{Expr(static_cast<int64_t>(texts->size()))});
    }
  }
}

// Of a 1-D tensor of sizes.
std::optional<Shape> shape_from(const NodeInference& node, size_t input) {
  Shape shape;
  if (const Elements* sizes = node.elements(input)) {
    for (const MaybeElement& size : *sizes) {
      shape.push_back(integer(size));
      if (constant(shape.back()).value_or(0) < 0) throw Error("a size is negative");
    }
    return shape;
  }
  const auto rank = constant(node.input_dim(input, 0));
  if (node.input_rank(input) != 1 || !rank || *rank < 0 || *rank > 64) return std::nullopt;
  return Shape(static_cast<size_t>(*rank));
}

void constant_of_shape(NodeInference& node) {
  DType dtype = DType::kF32;
  if (const Attribute* value = find_attribute(node.node, "value")) {
    if (const auto* literal = std::get_if<Literal>(&value->value)) dtype = literal->dtype;
  }
  node.set(0, dtype, shape_from(node, 0));
}

void range(NodeInference& node) {
  const DType dtype = first_dtype(node, {0, 1, 2});
  const MaybeElement start = node.scalar(0);
  const MaybeElement limit = node.scalar(1);
  const MaybeElement step = node.scalar(2);
  const MaybeElement count = ceil(divide(subtract(limit, start), step, node.bounds()));
  Dim length = integer(count);
  if (length && !node.at_least(length, 0)) length = max(*length, Expr(0));
  if (!length) length = node.inference.data_dependent_dim(node.node, 0, "length", 0);
  node.set(0, dtype, Shape{length});
}

// start and end (version 15) cut the list of dimensions.
void shape_rule(NodeInference& node) {
  const auto rank = node.input_rank(0);
  if (!rank) return node.set(0, DType::kInt64, Shape(1));
  const auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + *rank : axis, 0, *rank);
  };
  const int64_t start = clamp(int_attribute(node.node, "start", 0));
  const int64_t end = clamp(int_attribute(node.node, "end", *rank));
  node.set(0, DType::kInt64, Shape{Expr(std::max<int64_t>(end - start, 0))});
  Elements elements;
  for (int64_t i = start; i < end; ++i) elements.push_back(element(node.input_dim(0, i)));
  node.set_elements(0, std::move(elements));
}

void size_rule(NodeInference& node) {
  node.set(0, DType::kInt64, Shape{});
  node.set_elements(0, {element(element_count(node.input(0)))});
}

void eye_like(NodeInference& node) {
  const DType asked = dtype_of_onnx(int_attribute(node.node, "dtype", 0));
  node.set(0, asked == DType::kUnknown ? node.input_dtype(0) : asked, node.input(0).shape);
}

void random_of_shape(NodeInference& node) {
  const auto* sizes = ints_attribute(node.node, "shape");
  node.set(0, dtype_of_onnx(int_attribute(node.node, "dtype", 1)),
           sizes == nullptr ? std::nullopt : std::optional(shape_of(*sizes)));
}

void multinomial(NodeInference& node) {
  node.set(0, dtype_of_onnx(int_attribute(node.node, "dtype", 6)),
           Shape{node.input_dim(0, 0), Expr(int_attribute(node.node, "sample_size", 1))});
}

void window(NodeInference& node) {
  node.set(0, dtype_of_onnx(int_attribute(node.node, "output_datatype", 1)),
           Shape{integer(node.scalar(0))});
}

void mel_weight_matrix(NodeInference& node) {
  const Dim bins = integer(floor(divide(node.scalar(1), Element{Expr(2)}, node.bounds())));
  node.set(0, dtype_of_onnx(int_attribute(node.node, "output_datatype", 1)),
           Shape{plus(bins, Expr(1)), integer(node.scalar(0))});
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "BlackmanWindow", window},
    {kOnnx, "Constant", constant_rule},
    {kOnnx, "ConstantOfShape", constant_of_shape},
    {kOnnx, "EyeLike", eye_like},
    {kOnnx, "HammingWindow", window},
    {kOnnx, "HannWindow", window},
    {kOnnx, "MelWeightMatrix", mel_weight_matrix},
    {kOnnx, "Multinomial", multinomial},
    {kOnnx, "RandomNormal", random_of_shape},
    {kOnnx, "RandomUniform", random_of_shape},
    {kOnnx, "Range", range},
    {kOnnx, "Shape", shape_rule},
    {kOnnx, "Size", size_rule},
    {kMicrosoft, "Range", range},
};

}  // namespace

ShapeRuleFamily generator_shape_rules() { return kEntries; }

}  // namespace kcharter
