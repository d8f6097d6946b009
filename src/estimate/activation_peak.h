// The activation peak: the largest sum of bytes alive at once, of the model and while the nodes of
// each module run.
#pragma once

#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/estimate.h"

namespace kcharter {

// Fills kActivationPeakBytes of nodes (templates), modules and summary, peak_node, alive_at_peak
// and packed_peak_bytes.
// The formula is the max over the live sums that none other dominates.
void find_activation_peak(const Model& model, const ModuleTree& tree, const Operands& operands,
                          const Bindings& defaults, Estimate& estimate);

}  // namespace kcharter
