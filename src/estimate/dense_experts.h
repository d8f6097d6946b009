// Experts of an exported mixture that all run for every token: a router chooses k of E with TopK,
// each expert computes all tokens, and its result is multiplied by whether its number was chosen.
//
//   x → … → TopK → indices → Equal(·, 7) → Cast → Mul(weights) → ReduceSum → Mul(expert 7 of x)
//
// The graph's work is E/k times what the tokens need; which parameters take part in one token is
// still k of E.
#pragma once

#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/ops/operator.h"

namespace kcharter {

// Writes {k, E} into `shares` (by InitializerId) for the weights of such experts, and says so in a
// diagnostic `dense-expert-dispatch`.
void find_dense_experts(const Graph& graph, const Operands& operands,
                        std::vector<Work::Share>& shares, Diagnostics& diagnostics);

}  // namespace kcharter
