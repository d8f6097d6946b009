// How often each region runs in one step: bodies of loops times their trips, and of an If whose
// condition is not known the branch that costs more.
#pragma once

#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

// By RegionId. A region that does not run is an exact 0; an unknown trip count is unknown.
// `costs` of one run are by NodeId of templates.
std::vector<Quantity> region_runs(const Graph& graph, const ModuleTree& tree,
                                  const NodeMetrics& costs, const Bindings& defaults,
                                  Diagnostics& diagnostics);

// a run n times.
Quantity repeated(const Quantity& a, const Quantity& runs);

}  // namespace kcharter
