// Sequences and optionals: a sequence's type is what its tensors have in common, beside it how many
// there are and, of short ones, each one's own type.
#include <algorithm>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

TensorType as_tensor(TensorType type) {
  type.kind = TypeKind::kTensor;
  return type;
}

// Tensors and sequences alike.
void identity(NodeInference& node) {
  if (node.input(0).kind != TypeKind::kSequence) return node.set(0, node.input(0));
  if (const auto* items = node.items(0)) return node.set_sequence(0, *items, node.input_dtype(0));
  node.set_sequence(0, node.input(0), node.sequence_length(0));
}

void sequence_empty(NodeInference& node) {
  node.set_sequence(0, std::vector<TensorType>{},
                    dtype_of_onnx(int_attribute(node.node, "dtype", 1)));
}

void sequence_construct(NodeInference& node) {
  std::vector<TensorType> items;
  for (size_t i = 0; i < node.input_count(); ++i) items.push_back(node.input(i));
  node.set_sequence(0, std::move(items), first_dtype(node, {0}));
}

// Where in a sequence of `size` tensors a position given as a scalar is; the end where there is
// none.
std::optional<size_t> place(const NodeInference& node, size_t input, size_t size, size_t fallback) {
  if (!node.has_input(input)) return fallback;
  auto position = constant(node.scalar(input));
  if (!position) return std::nullopt;
  if (*position < 0) *position += static_cast<int64_t>(size);
  if (*position < 0 || *position > static_cast<int64_t>(size)) {
    throw Error("position " + std::to_string(*position) + " in a sequence of " +
                std::to_string(size));
  }
  return static_cast<size_t>(*position);
}

void sequence_insert(NodeInference& node) {
  const DType dtype = first_dtype(node, {0, 1});
  if (const auto* items = node.items(0)) {
    if (const auto at = place(node, 2, items->size(), items->size())) {
      std::vector<TensorType> longer = *items;
      longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(*at), as_tensor(node.input(1)));
      return node.set_sequence(0, std::move(longer), dtype);
    }
  }
  const Dim length = node.sequence_length(0);
  const TensorType type = constant(length) == 0
                              ? as_tensor(node.input(1))
                              : common_type(as_tensor(node.input(0)), as_tensor(node.input(1)));
  node.set_sequence(0, type, plus(length, Expr(1)));
}

void sequence_erase(NodeInference& node) {
  if (const auto* items = node.items(0); items != nullptr && !items->empty()) {
    if (const auto at = place(node, 1, items->size(), items->size() - 1);
        at && *at < items->size()) {
      std::vector<TensorType> shorter = *items;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(*at));
      return node.set_sequence(0, std::move(shorter), node.input_dtype(0));
    }
  }
  node.set_sequence(0, node.input(0), minus(node.sequence_length(0), Expr(1)));
}

void sequence_at(NodeInference& node) {
  if (const Elements* elements = node.elements(0)) node.set_elements(0, *elements);
  if (const auto* items = node.items(0); items != nullptr && node.scalar(1)) {
    if (const auto at = place(node, 1, items->size(), 0); at && *at < items->size()) {
      return node.set(0, (*items)[*at]);
    }
  }
  node.set(0, as_tensor(node.input(0)));
}

void sequence_length(NodeInference& node) {
  node.set(0, DType::kInt64, Shape{});
  node.set_elements(0, {element(node.sequence_length(0))});
}

// Pieces of a tensor whose numbers are all the same have the same numbers.
void set_uniform_elements(NodeInference& node) {
  const Elements* elements = node.elements(0);
  const TensorType& piece = node.graph[node.node.outputs[0]].type;
  const auto count = constant(element_count({piece.dtype, piece.shape, TypeKind::kTensor}));
  if (elements == nullptr || elements->empty() || !count || *count < 1 ||
      *count > static_cast<int64_t>(elements->size())) {
    return;
  }
  const MaybeElement& first = elements->front();
  const bool uniform = std::all_of(elements->begin(), elements->end(),
                                   [&](const MaybeElement& other) { return other == first; });
  if (first && uniform) node.set_elements(0, Elements(static_cast<size_t>(*count), first));
}

// `split`: absent (pieces of 1), a scalar, or the size of each piece.
void set_pieces(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const DType dtype = node.input_dtype(0);
  if (shape == nullptr) return node.set_sequence(0, TensorType{dtype, std::nullopt}, std::nullopt);
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), shape->size());
  Shape piece = *shape;
  if (!node.has_input(1)) {
    const Dim length = piece[axis];
    piece[axis] = Expr(1);
    std::optional<Shape> shape_of_piece = piece;
    if (int_attribute(node.node, "keepdims", 1) == 0) {
      shape_of_piece = without_axis(shape_of_piece, static_cast<int64_t>(axis));
    }
    return node.set_sequence(0, TensorType{dtype, std::move(shape_of_piece)}, length);
  }
  const auto sizes = node.constants(1);
  if (sizes && node.input_rank(1) == 1) {
    std::vector<TensorType> items;
    for (const int64_t size : *sizes) {
      piece[axis] = Expr(size);
      items.push_back(TensorType{dtype, piece});
    }
    return node.set_sequence(0, std::move(items), dtype);
  }
  const Dim whole = piece[axis];
  const auto size = constant(node.scalar(1));
  if (!size || *size < 1) {
    piece[axis] = std::nullopt;
    return node.set_sequence(0, TensorType{dtype, piece}, std::nullopt);
  }
  const auto total = constant(whole);
  if (total && *total / *size < 64) {
    std::vector<TensorType> items;
    for (int64_t at = 0; at < *total; at += *size) {
      piece[axis] = Expr(std::min(*size, *total - at));
      items.push_back(TensorType{dtype, piece});
    }
    return node.set_sequence(0, std::move(items), dtype);
  }
  // The last piece may be shorter.
  piece[axis] = *size == 1 || (total && *total % *size == 0) ? Dim(Expr(*size)) : std::nullopt;
  node.set_sequence(0, TensorType{dtype, piece}, ceil_divided(whole, *size));
}

void split_to_sequence(NodeInference& node) {
  set_pieces(node);
  if (node.has_output(0)) set_uniform_elements(node);
}

void concat_from_sequence(NodeInference& node) {
  const TensorType& type = node.input(0);
  const int64_t axis = int_attribute(node.node, "axis", 0);
  const Dim length = node.sequence_length(0);
  if (int_attribute(node.node, "new_axis", 0) != 0) {
    return node.set(0, type.dtype, with_axis(type.shape, axis, length));
  }
  if (!type.shape) return node.set(0, type.dtype, std::nullopt);
  Shape result = *type.shape;
  const size_t at = normalize_axis(axis, result.size());
  Dim total = times(result[at], length);
  if (const auto* items = node.items(0)) {
    total = Expr(0);
    for (const TensorType& item : *items) {
      total = plus(total, item.shape ? (*item.shape)[at] : std::nullopt);
    }
  }
  result[at] = total;
  node.set(0, type.dtype, std::move(result));
}

// The body runs on each tensor; its outputs become sequences.
void sequence_map(NodeInference& node) {
  if (node.node.bodies.empty()) return;
  const std::vector<ValueId>& results = node.graph[node.node.bodies[0]].outputs;
  for (size_t i = 0; i < node.output_count() && i < results.size(); ++i) {
    if (results[i]) node.set_sequence(i, node.graph[results[i]].type, node.sequence_length(0));
  }
}

void optional(NodeInference& node) {
  TensorType type = node.input(0);
  type.kind = TypeKind::kOptional;
  node.set(0, std::move(type));
}

void optional_get_element(NodeInference& node) {
  if (node.input(0).kind == TypeKind::kOptional) return node.set(0, as_tensor(node.input(0)));
  identity(node);
}

void scalar_flag(NodeInference& node) { node.set(0, DType::kBool, Shape{}); }

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "ConcatFromSequence", concat_from_sequence},
    {kOnnx, "Identity", identity},
    {kOnnx, "Optional", optional},
    {kOnnx, "OptionalGetElement", optional_get_element},
    {kOnnx, "OptionalHasElement", scalar_flag},
    {kOnnx, "SequenceAt", sequence_at},
    {kOnnx, "SequenceConstruct", sequence_construct},
    {kOnnx, "SequenceEmpty", sequence_empty},
    {kOnnx, "SequenceErase", sequence_erase},
    {kOnnx, "SequenceInsert", sequence_insert},
    {kOnnx, "SequenceLength", sequence_length},
    {kOnnx, "SequenceMap", sequence_map},
    {kOnnx, "SplitToSequence", split_to_sequence},
};

}  // namespace

ShapeRuleFamily sequence_shape_rules() { return kEntries; }

}  // namespace kcharter
