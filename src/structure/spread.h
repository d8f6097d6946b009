// spread: gives the nodes that no name places the module that their neighbours say.
#pragma once

#include "kcharter/model/graph.h"
#include "structure/placement.h"
#include "structure/value_readers.h"

namespace kcharter {

// Fills the entries of placement.nodes that are kNoPath. Rules, for a node between the last placed
// node before it and the first placed node after it in the data flow:
//   both                 the deepest module that holds both; where that is a mere list of modules
//                        (layers.0, layers.1 …), the side that it belongs to: a node with tensors
//                        of its own begins the later one, another ends the earlier one
//   only before          the deepest module that holds all that is before it
//   fed by constants     the deepest module that holds all its readers
//   fed by inputs only   the root
void spread(const Graph& graph, const ValueReaders& readers, Placement& placement);

}  // namespace kcharter
