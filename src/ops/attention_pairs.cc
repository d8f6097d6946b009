#include "ops/attention_pairs.h"

namespace kcharter {
namespace {

// 2·Σ_{i=1..n} min(i, window) = m(m+1) + 2(n−m)·window with m = min(n, window).
Expr twice_windowed_sum(const Expr& n, const Expr& window) {
  Expr m = min(n, window);
  return m * (m + 1) + 2 * (n - m) * window;
}

// Σ_{t=1..n} floor(t / ratio) = ratio·m(m−1)/2 + m·(n − ratio·m + 1) with m = floor(n / ratio).
Expr sum_of_quotients(const Expr& n, int64_t ratio) {
  Expr m = floor_div(n, Expr(ratio));
  return floor_div(Expr(ratio) * m * (m - 1), Expr(2)) + m * (n - Expr(ratio) * m + 1);
}

}  // namespace

Expr twice_causal_pairs(const Expr& queries, const Expr& past, const std::optional<Expr>& window) {
  bool one_query = queries == Expr(1);
  if (!window) return one_query ? 2 * (past + 1) : queries * (2 * past + queries + 1);
  if (one_query) return 2 * min(past + 1, *window);
  return twice_windowed_sum(past + queries, *window) - twice_windowed_sum(past, *window);
}

Expr compressed_pairs(const Expr& queries, int64_t ratio, int64_t selected) {
  if (ratio <= 1) ratio = 1;
  if (selected <= 0) return sum_of_quotients(queries, ratio);
  // From token ratio·selected on, every query sees as many as it may.
  Expr rising = min(queries, Expr(ratio) * Expr(selected) - 1);
  return sum_of_quotients(rising, ratio) + Expr(selected) * (queries - rising);
}

Expr past_keys_read(const Expr& past, const std::optional<Expr>& window) {
  if (!window || past.is_zero()) return past;
  return min(past, *window - 1);
}

}  // namespace kcharter
