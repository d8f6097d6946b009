#include "shape/element.h"

#include <cmath>

namespace kcharter {
namespace {

// Finer fractions than this are not worth carrying: a scale is a small ratio or a float32.
constexpr int kMaxFractionBits = 40;

// Common constant factors are cancelled so that equal ratios compare equal.
Element ratio(const Expr& numerator, const Expr& denominator) {
  if (denominator == Expr(1)) return {numerator, 1};
  if (numerator == denominator) return {1, 1};
  if (const auto d = denominator.constant(); d) {
    const Expr quotient = floor_div(numerator, denominator);
    if (quotient * denominator == numerator) return {quotient, 1};
  }
  return {numerator, denominator};
}

}  // namespace

MaybeElement element(const Dim& dim) {
  if (!dim) return std::nullopt;
  return Element{*dim, 1};
}

MaybeElement element(double number) {
  if (!std::isfinite(number) || std::fabs(number) > 0x1p62) return std::nullopt;
  int bits = 0;
  while (number != std::floor(number)) {
    if (++bits > kMaxFractionBits || std::fabs(number) > 0x1p61) return std::nullopt;
    number *= 2;
  }
  return Element{Expr(static_cast<int64_t>(number)), Expr(int64_t{1} << bits)};
}

Dim integer(const MaybeElement& value) {
  if (!value || !value->is_integer()) return std::nullopt;
  return value->numerator;
}

std::optional<int64_t> constant(const Dim& dim) {
  if (!dim) return std::nullopt;
  const auto value = dim->constant();
  if (!value || *value > INT64_MAX || *value < INT64_MIN) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<int64_t> constant(const MaybeElement& value) { return constant(integer(value)); }

std::optional<double> to_double(const MaybeElement& value) {
  if (!value) return std::nullopt;
  const auto numerator = value->numerator.constant();
  const auto denominator = value->denominator.constant();
  if (!numerator || !denominator) return std::nullopt;
  return static_cast<double>(*numerator) / static_cast<double>(*denominator);
}

bool Bounds::at_least(const Expr& a, const Expr& b) const {
  if (const auto difference = (a - b).constant()) return *difference >= 0;
  return provably_at_least(a, b, lower_bounds_);
}

MaybeElement add(const MaybeElement& a, const MaybeElement& b) {
  if (!a || !b) return std::nullopt;
  if (a->denominator == b->denominator) {
    return ratio(a->numerator + b->numerator, a->denominator);
  }
  return ratio(a->numerator * b->denominator + b->numerator * a->denominator,
               a->denominator * b->denominator);
}

MaybeElement negate(const MaybeElement& a) {
  if (!a) return std::nullopt;
  return Element{Expr(0) - a->numerator, a->denominator};
}

MaybeElement subtract(const MaybeElement& a, const MaybeElement& b) { return add(a, negate(b)); }

MaybeElement multiply(const MaybeElement& a, const MaybeElement& b) {
  if (!a || !b) return std::nullopt;
  // a/b * b is a, whatever b is: scales computed as target size over size end this way.
  if (a->denominator == b->numerator) return ratio(a->numerator, b->denominator);
  if (b->denominator == a->numerator) return ratio(b->numerator, a->denominator);
  return ratio(a->numerator * b->numerator, a->denominator * b->denominator);
}

MaybeElement divide(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds) {
  if (!a || !b || b->numerator.is_zero()) return std::nullopt;
  if (const auto divisor = b->numerator.constant(); divisor && *divisor < 0) {
    return divide(negate(a), negate(b), bounds);
  }
  if (!bounds.at_least(b->numerator, 1)) return std::nullopt;
  return multiply(a, Element{b->denominator, b->numerator});
}

MaybeElement floor(const MaybeElement& a) {
  if (!a || a->is_integer()) return a;
  return Element{floor_div(a->numerator, a->denominator), 1};
}

MaybeElement ceil(const MaybeElement& a) {
  if (!a || a->is_integer()) return a;
  return Element{ceil_div(a->numerator, a->denominator), 1};
}

MaybeElement truncate(const MaybeElement& a, const Bounds& bounds) {
  if (!a || a->is_integer()) return a;
  if (bounds.at_least(a->numerator, 0)) return floor(a);
  if (bounds.at_least(0, a->numerator)) return ceil(a);
  return std::nullopt;
}

Order compare(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds) {
  if (!a || !b) return Order::kUnknown;
  const Expr left = a->numerator * b->denominator;
  const Expr right = b->numerator * a->denominator;
  if (left == right) return Order::kEqual;
  if (bounds.at_least(left, right + 1)) return Order::kGreater;
  if (bounds.at_least(right, left + 1)) return Order::kLess;
  if ((left - right).is_constant()) return Order::kNotEqual;
  return Order::kUnknown;
}

MaybeElement smaller(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds) {
  if (!a || !b) return std::nullopt;
  const Order order = compare(a, b, bounds);
  if (order == Order::kLess || order == Order::kEqual) return a;
  if (order == Order::kGreater) return b;
  if (!a->is_integer() || !b->is_integer()) return std::nullopt;
  return Element{min(a->numerator, b->numerator), 1};
}

MaybeElement larger(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds) {
  if (!a || !b) return std::nullopt;
  const Order order = compare(a, b, bounds);
  if (order == Order::kGreater || order == Order::kEqual) return a;
  if (order == Order::kLess) return b;
  if (!a->is_integer() || !b->is_integer()) return std::nullopt;
  return Element{max(a->numerator, b->numerator), 1};
}

}  // namespace kcharter
