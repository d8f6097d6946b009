// How many (query, key) pairs an attention computes.
#pragma once

#include <optional>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

// Twice the pairs of `queries` causal positions that follow `past` others, so that it stays a
// polynomial: Σ over queries of 2·min(position, window); S·(S+1) with no past and no window.
Expr twice_causal_pairs(const Expr& queries, const Expr& past, const std::optional<Expr>& window);

// The entries seen by `queries` causal positions with no past where each `ratio` tokens make one entry:
// Σ over t = 1 … queries of min(floor(t / ratio), selected); selected 0: no bound.
Expr compressed_pairs(const Expr& queries, int64_t ratio, int64_t selected);

// The keys of the past that the queries reach: all, or those of the window before the first query.
Expr past_keys_read(const Expr& past, const std::optional<Expr>& window);

}  // namespace kcharter
