#include "kcharter/ops/dims.h"

namespace kcharter {
namespace {

const Shape* shape_of_operand(const Graph& graph, const std::vector<ValueId>& ids, size_t index) {
  if (index >= ids.size() || !ids[index]) return nullptr;
  const TensorType& type = graph[ids[index]].type;
  return type.shape && type.kind == TypeKind::kTensor ? &*type.shape : nullptr;
}

Dim dim_of(const Shape* shape, int axis) {
  if (shape == nullptr) return std::nullopt;
  int rank = static_cast<int>(shape->size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return (*shape)[axis];
}

}  // namespace

Dim plus(const Dim& a, const Dim& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

Dim times(const Dim& a, const Dim& b) {
  if (!a || !b) return std::nullopt;
  return *a * *b;
}

int64_t constant_up_to(const Dim& dim, int64_t limit) {
  if (!dim || !dim->is_constant()) return -1;
  Int value = dim->constant().value_or(-1);
  return value >= 0 && value <= limit ? static_cast<int64_t>(value) : -1;
}

Dim product(const Shape& shape, size_t begin, size_t end) {
  Dim result = Expr(1);
  for (size_t axis = begin; axis < end && axis < shape.size(); ++axis) {
    result = times(result, shape[axis]);
  }
  return result;
}

bool has_input(const Node& node, size_t input) {
  return input < node.inputs.size() && node.inputs[input];
}

bool has_output(const Node& node, size_t output) {
  return output < node.outputs.size() && node.outputs[output];
}

const Shape* input_shape(const Graph& graph, const Node& node, size_t input) {
  return shape_of_operand(graph, node.inputs, input);
}

const Shape* output_shape(const Graph& graph, const Node& node, size_t output) {
  return shape_of_operand(graph, node.outputs, output);
}

Dim input_dim(const Graph& graph, const Node& node, size_t input, int axis) {
  return dim_of(input_shape(graph, node, input), axis);
}

Dim output_dim(const Graph& graph, const Node& node, size_t output, int axis) {
  return dim_of(output_shape(graph, node, output), axis);
}

Dim input_elements(const Graph& graph, const Node& node, size_t input) {
  if (!has_input(node, input)) return Expr(0);
  return element_count(graph[node.inputs[input]].type);
}

Dim output_elements(const Graph& graph, const Node& node, size_t output) {
  if (!has_output(node, output)) return Expr(0);
  return element_count(graph[node.outputs[output]].type);
}

}  // namespace kcharter
