// How the values, weights and caches of a graph lie over a tensor and an expert group.
#pragma once

#include "estimate/parallel/layout_pass.h"

namespace kcharter {

Layouts find_layouts(const Graph& graph, const Operands& operands);

}  // namespace kcharter
