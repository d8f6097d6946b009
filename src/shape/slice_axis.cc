#include "shape/slice_axis.h"

#include <algorithm>

namespace kcharter {
namespace {

// Exporters write INT32_MAX, INT64_MAX or a number near one for "to the end".
constexpr int64_t kEnd = INT32_MAX;

Expr clamped_below(const Expr& a, const Bounds& bounds) {
  return bounds.at_least(a, 0) ? a : max(a, Expr(0));
}

// A bound of the slice as a place in [0, size]; nullopt where its sign is not known.
Dim place(const Expr& bound, const Expr& size, bool is_table, bool& limit_assumed,
          const Bounds& bounds) {
  if (const auto number = bound.constant(); number && *number >= kEnd) return size;
  if (bounds.at_least(Expr(-1), bound)) return clamped_below(size + bound, bounds);
  if (!bounds.at_least(bound, 0)) return std::nullopt;
  if (bounds.at_least(size, bound)) return bound;
  if (bounds.at_least(bound, size)) return size;
  if (is_table && !bound.is_constant()) {
    limit_assumed = true;
    return bound;
  }
  return min(bound, size);
}

// Backwards: only what numbers or whole axes say.
SlicedAxis slice_backwards(const Expr& size, const Expr& start, const Expr& end, int64_t step) {
  const auto s = constant(Dim(start));
  const auto e = constant(Dim(end));
  const auto n = constant(Dim(size));
  if (!s || !e) return {};
  if (n) {
    const int64_t from = std::clamp(*s < 0 ? *s + *n : *s, int64_t{-1}, *n - 1);
    const int64_t to = *e < -*n ? -1 : std::clamp(*e < 0 ? *e + *n : *e, int64_t{-1}, *n - 1);
    const int64_t length = from > to ? (from - to - 1) / -step + 1 : 0;
    return {Expr(length), Expr(from)};
  }
  if ((*s == -1 || *s >= kEnd) && *e <= -kEnd) return {ceil_div(size, Expr(-step)), size - 1};
  return {};
}

}  // namespace

SlicedAxis slice_axis(const Dim& size, const MaybeElement& start, const MaybeElement& end,
                      int64_t step, bool is_table, const Bounds& bounds) {
  const Dim from = integer(start);
  const Dim to = integer(end);
  if (!size || !from || !to || step == 0 || step == INT64_MIN) return {};
  if (step < 0) return slice_backwards(*size, *from, *to, step);
  SlicedAxis result;
  const Dim first = place(*from, *size, is_table, result.limit_assumed, bounds);
  const Dim last = place(*to, *size, is_table, result.limit_assumed, bounds);
  if (!first || !last) return {};
  const Expr length = clamped_below(*last - *first, bounds);
  result.start = first;
  result.length = step == 1 ? length : ceil_div(length, Expr(step));
  return result;
}

}  // namespace kcharter
