// When each activation is alive, over the order of nodes.
//
// A step is a node that runs; what is folded at load and the branches that are not taken are none.
// A value lives from the step that makes it through its last reader. Graph inputs live from the
// first step, graph outputs to the last one; an unused result lives in its own step. Views share
// the memory of what they view, which lives as long as any of them. What a loop's body reads from
// outside lives until the loop ends; a loop's results and the inputs of its body live from the
// body's first step. No value takes the place of another that dies in the same step (no update in
// place). Weights and caches are not among them.
#pragma once

#include <vector>

#include "kcharter/estimate/operands.h"

namespace kcharter {

struct Lifetime {
  ValueId memory;
  uint32_t birth = 0;  // the first and the last step that it is alive in
  uint32_t death = 0;
  bool from_start = false;  // a graph input
  bool to_end = false;      // a graph output
};

struct Lifetimes {
  std::vector<NodeId> steps;
  std::vector<Lifetime> values;
};

Lifetimes activation_lifetimes(const Graph& graph, const Operands& operands);

}  // namespace kcharter
