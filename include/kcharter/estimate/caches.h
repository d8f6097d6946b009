// Bytes of caches and states.
#pragma once

#include "kcharter/estimate/quantity.h"
#include "kcharter/model/model.h"

namespace kcharter {

// What is allocated for one cache.
Quantity allocated_bytes(const Model& model, const Cache& cache);
// The grown copy that a graph returns beside the cache it was given; 0 where there is none.
Quantity copied_bytes(const Graph& graph, const Cache& cache);

}  // namespace kcharter
