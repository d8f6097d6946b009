// How many heads stand in the first axis of a cache that batch and heads share (bloom).
#pragma once

#include <cstdint>
#include <optional>

#include "import/onnx/graph_types.h"
#include "kcharter/model/graph.h"

namespace kcharter {

// The width of the projection that fills the cache, divided by the size of a head. Nothing where
// that projection is not found.
std::optional<int64_t> count_heads(const Graph& graph, const GraphTypes& types, const Cache& cache);

}  // namespace kcharter
