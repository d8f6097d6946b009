// Bytes of caches and states.
#pragma once

#include <vector>

#include "kcharter/estimate/quantity.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

// What is allocated for one cache.
Quantity allocated_bytes(const Model& model, const Cache& cache);
// The grown copy that a graph returns beside the cache it was given; 0 where there is none.
Quantity copied_bytes(const Graph& graph, const Cache& cache);

// By cache index: the module that owns it; the root's where none does.
std::vector<ModuleId> modules_of_caches(const Graph& graph, const ModuleTree& tree);

}  // namespace kcharter
