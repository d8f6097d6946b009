// merge_branches: what an If gives, from what its branches give.
#pragma once

#include <vector>

#include "shape/inference.h"

namespace kcharter {

// Sets the outputs of the If from those of `branches`: what they have in common; a dimension in
// which they differ becomes a number of its own.
void merge_branches(Inference& inference, NodeId owner, const std::vector<RegionId>& branches);

// Whether the If is how exporters write squeeze: then Squeeze, else Identity. Only the one of the
// two fits what follows, and who wrote squeeze expects the axis to be 1.
bool is_squeeze(const Inference& inference, NodeId owner);

}  // namespace kcharter
