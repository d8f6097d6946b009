// merge_repeated_calls: a module that is called again has a number behind its name the second time
// ("/block/fc1_1/MatMul"), but so may a module of its own ("relu_1"). Only its weights tell: a
// module that reads a parameter of its sibling "fc1", and none of its own, is that sibling.
#pragma once

#include "structure/placement.h"

namespace kcharter {

void merge_repeated_calls(const Graph& graph, const ValueReaders& readers, Placement& placement);

}  // namespace kcharter
