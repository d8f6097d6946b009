// The activation peak: the largest sum of bytes alive at once, of the model and while the nodes of
// each module run.
#pragma once

#include <vector>

#include "estimate/live_sums.h"
#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/estimate.h"

namespace kcharter {

// Fills kActivationPeakBytes of nodes (templates), modules and summary, peak_node, alive_at_peak,
// scratch_at_peak and packed_peak_bytes.
// The formula is the max over the live sums that none other dominates.
void find_activation_peak(const Model& model, const ModuleTree& tree, const Operands& operands,
                          const Bindings& defaults, const EstimateOptions& options,
                          Estimate& estimate);

// The least that each variable of the model may be.
Bindings lower_bounds_of(const Model& model);

// The peak while the nodes of each of `groups` groups run, where a value takes `bytes_of` it.
// `group_of_node` is by NodeId of all nodes.
std::vector<Quantity> peaks_of_groups(const Graph& graph, const Operands& operands,
                                      const std::vector<uint32_t>& group_of_node, size_t groups,
                                      const LiveSums::BytesOf& bytes_of,
                                      const LiveSums::ScratchOf& scratch_of,
                                      const Bindings& lower_bounds, const Bindings& defaults);

}  // namespace kcharter
