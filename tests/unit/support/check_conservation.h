// check_conservation: the slow and obvious proof that a tree loses nothing and folds only what is
// equal. Returns what is wrong in sentences; empty: nothing is.
#pragma once

#include <string>
#include <vector>

#include "kcharter/structure/module_tree.h"

namespace kcharter {

std::vector<std::string> check_conservation(const ModuleTree& tree, const Graph& graph);

}  // namespace kcharter
