// Element: one number of a small tensor that may steer a shape, as a formula. Floats that reach a
// shape are ratios of formulas (`height * 0.5` → floor → Resize), so a ratio is what is kept:
//
//   Element half{Expr::variable("height"), 2};   // height / 2
//   floor(half, bounds);                         // floor_div(height,2)
//
// An element that is not known is nullopt; a tensor may be known in part (a Shape with one unknown
// dimension).
#pragma once

#include <optional>
#include <vector>

#include "kcharter/model/tensor_type.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

struct Element {
  Expr numerator;
  Expr denominator = 1;  // at least 1 for every binding
  bool is_integer() const { return denominator == Expr(1); }
  friend bool operator==(const Element&, const Element&) = default;
};
using MaybeElement = std::optional<Element>;
using Elements = std::vector<MaybeElement>;

// More elements than this are never carried: nothing that steers a shape is longer.
inline constexpr size_t kMaxElements = 1024;

MaybeElement element(const Dim& dim);
// The exact binary fraction of a float; nullopt for what is no number or too fine to be one.
MaybeElement element(double number);
// The integer formula; nullopt where it is a ratio or unknown.
Dim integer(const MaybeElement& value);
std::optional<int64_t> constant(const MaybeElement& value);
std::optional<int64_t> constant(const Dim& dim);
std::optional<double> to_double(const MaybeElement& value);

// What is known of the signs of formulas, from the least value of each variable.
class Bounds {
 public:
  explicit Bounds(Bindings lower_bounds) : lower_bounds_(std::move(lower_bounds)) {}
  bool at_least(const Expr& a, const Expr& b) const;
  void set_minimum(const std::string& variable, Int minimum) { lower_bounds_[variable] = minimum; }

 private:
  Bindings lower_bounds_;
};

MaybeElement add(const MaybeElement& a, const MaybeElement& b);
MaybeElement subtract(const MaybeElement& a, const MaybeElement& b);
MaybeElement multiply(const MaybeElement& a, const MaybeElement& b);
// Exact; nullopt where the divisor is not provably positive and not a constant.
MaybeElement divide(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds);
MaybeElement negate(const MaybeElement& a);
MaybeElement floor(const MaybeElement& a);
MaybeElement ceil(const MaybeElement& a);
// Towards zero, as integer division and casts of floats to integers are.
MaybeElement truncate(const MaybeElement& a, const Bounds& bounds);

enum class Order { kLess, kEqual, kGreater, kUnknown, kNotEqual };
// How a and b compare for every binding.
Order compare(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds);

// A formula with min or max where the order depends on the variables.
MaybeElement smaller(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds);
MaybeElement larger(const MaybeElement& a, const MaybeElement& b, const Bounds& bounds);

}  // namespace kcharter
