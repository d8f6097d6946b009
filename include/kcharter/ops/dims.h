// Arithmetic on Dims, where unknown stays unknown, and access to the shapes of a node's operands.
#pragma once

#include <cstddef>

#include "kcharter/model/graph.h"

namespace kcharter {

Dim plus(const Dim& a, const Dim& b);
Dim times(const Dim& a, const Dim& b);
// The number, where it is one from 0 to `limit`; -1 otherwise.
int64_t constant_up_to(const Dim& dim, int64_t limit);
// The product of shape[begin, end); 1 where the range is empty.
Dim product(const Shape& shape, size_t begin, size_t end);

bool has_input(const Node& node, size_t input);
bool has_output(const Node& node, size_t output);
// nullptr: absent, or its rank is unknown.
const Shape* input_shape(const Graph& graph, const Node& node, size_t input);
const Shape* output_shape(const Graph& graph, const Node& node, size_t output);
// A negative axis counts from the end; nullopt where the axis does not exist.
Dim input_dim(const Graph& graph, const Node& node, size_t input, int axis);
Dim output_dim(const Graph& graph, const Node& node, size_t output, int axis);
// 0 for an absent operand.
Dim input_elements(const Graph& graph, const Node& node, size_t input);
Dim output_elements(const Graph& graph, const Node& node, size_t output = 0);

}  // namespace kcharter
