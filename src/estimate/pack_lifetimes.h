// An upper bound of the memory that activations need: where a simple allocator puts them.
#pragma once

#include <optional>

#include "kcharter/estimate/lifetimes.h"

namespace kcharter {

// Each step's values are placed, largest first, in the smallest gap that holds them, and leave it
// after their last step; the result is the highest byte ever used. Best fit with known sizes, no
// rounding: a runtime with a plan does at least as well. nullopt: a size is not known at `values`.
std::optional<Int> packed_bytes(const Graph& graph, const Lifetimes& lifetimes,
                                const Bindings& values);

}  // namespace kcharter
