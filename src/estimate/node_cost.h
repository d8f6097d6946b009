// What one run of one node computes and moves.
#pragma once

#include "kcharter/estimate/operands.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/estimate/quantity.h"

namespace kcharter {

// Flops, elementwise flops and the bytes read and written; the resident metrics stay 0. A read of a
// value that a cache keeps is a read of the cache whatever operator does it; of a grown copy the
// new tokens are a write of the cache and the rest is a write of activations.
Metrics node_cost(const Graph& graph, const Operands& operands, NodeId node,
                  Diagnostics& diagnostics);

// The dtype that a node computes in: what the format of its weight asks for (`computed_in`), else that
// of its first input, or of its result where the first is an index.
DType compute_dtype(const Graph& graph, const Node& node);

// "node 'MatMul_12' (MatMul)"
std::string describe(const Node& node);

}  // namespace kcharter
