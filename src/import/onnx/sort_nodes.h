// sort_nodes: puts nodes into execution order: each after the nodes it reads from, bodies before
// their owner, and otherwise as the file has them. Exporters and optimizers write files that are
// not in order, and runtimes accept these.
#pragma once

#include "kcharter/model/graph.h"

namespace kcharter {

// True where something had to move. Throws Error naming the nodes of a cycle.
bool sort_nodes(Graph& graph);

}  // namespace kcharter
