// What operators have in common: axes, broadcasting, dimensions that must agree.
#pragma once

#include <span>

#include "shape/inference.h"

namespace kcharter {

// Counts a negative axis from the end; throws Error where the axis does not exist.
size_t normalize_axis(int64_t axis, size_t rank);
// The same for a list, in the given order; throws Error on a repeated axis.
std::vector<size_t> normalize_axes(const std::vector<int64_t>& axes, size_t rank);

// numpy's rule for one axis. Of two symbols that could each be 1 the larger is taken, flattened,
// and the assumption is a diagnostic. Throws Error where the two cannot be combined.
Dim broadcast(const NodeInference& node, const Dim& a, const Dim& b);
std::optional<Shape> broadcast(const NodeInference& node, const Shape* a, const Shape* b);
// Of the inputs first … last; nullopt where one has no rank.
std::optional<Shape> broadcast_inputs(const NodeInference& node, size_t first, size_t last);

// Two dimensions that the operator wants equal: the one that says more. Throws Error where they are
// different constants.
Dim same(const NodeInference& node, const Dim& a, const Dim& b, std::string_view what);

// Two dimensions that the operator wants equal and the result does not have: a contradiction is
// reported, the result stands.
void check_same(const NodeInference& node, const Dim& a, const Dim& b, std::string_view what);

// The shape with one axis less or one more; `axis` counts in the longer of the two.
std::optional<Shape> without_axis(const std::optional<Shape>& shape, int64_t axis);
std::optional<Shape> with_axis(const std::optional<Shape>& shape, int64_t axis, const Dim& dim);

Dim minus(const Dim& a, const Dim& b);
// floor((dim + padding − window)/stride) + 1 and its kin need exact division of a known formula.
Dim floor_divided(const Dim& a, int64_t divisor);
Dim ceil_divided(const Dim& a, int64_t divisor);

// The dtype of the first input that has one.
DType first_dtype(const NodeInference& node, std::initializer_list<size_t> inputs);
// ONNX's numbers of TensorProto.DataType, as attributes `to` and `dtype` give them.
DType dtype_of_onnx(int64_t number);
int64_t onnx_number(DType dtype);

// The common rules.
void same_as_first_input(NodeInference& node);

}  // namespace kcharter
