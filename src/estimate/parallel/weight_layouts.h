// Where each stored tensor lies: its layout and its place in the pipeline.
#pragma once

#include <vector>

#include "estimate/parallel/layout_pass.h"
#include "estimate/parallel/pipeline.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

struct WeightPlaces {
  std::vector<LayoutId> layouts;  // by InitializerId
  std::vector<PlaceId> places;
};

// A tensor that no operator of this step reads (layers for drafting, another tower) lies like one
// that has its name but for numbers, and its size; else like all that have its size.
WeightPlaces place_weights(const Graph& graph, const ModuleTree& tree, const Operands& operands,
                           const Layouts& layouts, const Pipeline& pipeline);

}  // namespace kcharter
