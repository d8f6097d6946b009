// Fills ParallelEstimate from the graph, its layouts and its pipeline.
#pragma once

#include <optional>
#include <vector>

#include "kcharter/estimate/estimate.h"
#include "kcharter/estimate/operands.h"

namespace kcharter {

// `runs` is by NodeId of templates: how often all nodes that it stands for run in a step.
ParallelEstimate estimate_parallel(const Model& model, const ModuleTree& tree,
                                   const Operands& operands, const std::vector<Quantity>& runs,
                                   const Bindings& defaults, const EstimateOptions& options,
                                   const Estimate& estimate);

}  // namespace kcharter
