// Work of Einsum: one sum over every index that the output lacks.
#pragma once

#include "kcharter/ops/operator.h"

namespace kcharter {

Work einsum_work(const Graph& graph, const Node& node);

}  // namespace kcharter
