// What devices send each other in one step.
#pragma once

#include <vector>

#include "estimate/parallel/layout_pass.h"
#include "estimate/parallel/pipeline.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

std::vector<Communication> find_communication(const Graph& graph, const ModuleTree& tree,
                                              const Layouts& layouts, const Pipeline& pipeline,
                                              const std::vector<Quantity>& runs);

}  // namespace kcharter
