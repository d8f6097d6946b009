#include "ops/attention_pairs.h"

namespace kcharter {
namespace {

// 2·Σ_{i=1..n} min(i, window) = m(m+1) + 2(n−m)·window with m = min(n, window).
Expr twice_windowed_sum(const Expr& n, const Expr& window) {
  Expr m = min(n, window);
  return m * (m + 1) + 2 * (n - m) * window;
}

}  // namespace

Expr twice_causal_pairs(const Expr& queries, const Expr& past, const std::optional<Expr>& window) {
  bool one_query = queries == Expr(1);
  if (!window) return one_query ? 2 * (past + 1) : queries * (2 * past + queries + 1);
  if (one_query) return 2 * min(past + 1, *window);
  return twice_windowed_sum(past + queries, *window) - twice_windowed_sum(past, *window);
}

Expr past_keys_read(const Expr& past, const std::optional<Expr>& window) {
  if (!window || past.is_zero()) return past;
  return min(past, *window - 1);
}

}  // namespace kcharter
