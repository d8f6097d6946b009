// lift_shared: takes what several layers use out of the one that an exporter happened to make it
// in.
//
// Masks, rotary tables, sizes and constants are computed once, where they are first asked for, and
// then read by all layers: they bear the first layer's scope, and it looks unlike the others.
#pragma once

#include "kcharter/model/graph.h"
#include "structure/placement.h"
#include "structure/value_readers.h"

namespace kcharter {

// Moves nodes from a member of a list of modules (layers.0) to the deepest module around the list
// that holds all their readers, if
//   they are made of inputs, constants and shapes alone, of no weight and of nothing a weight made;
//   one of their values is read by two other members, or by their own and another, or by a node
//   that was moved itself.
void lift_shared(const Graph& graph, const ValueReaders& readers, Placement& placement);

}  // namespace kcharter
