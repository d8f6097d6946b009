// Expr: an immutable exact integer formula over named variables, kept in one canonical form, so that
// equal formulas compare equal, print the same and are stored once.
//
//   Expr batch = Expr::variable("batch_size");
//   Expr bytes = 2 * batch * (Expr::variable("current_length") - 1) * 896;
//   bytes.to_string();   // "1792*batch_size*current_length-1792*batch_size"
//
// Canonical form: a sum of terms; a term is a non-zero coefficient times a product of atoms with
// powers; an atom is a variable or a function of canonical Exprs. Sums are expanded, like terms
// collected, terms and arguments put in an order that depends on names and structure alone (never on
// addresses), so that output is the same on every run. min/max are flattened, duplicate and constant
// arguments merged. Variables stand for integers >= 0.
//
// Constants need no allocation. Coefficients are 128-bit and checked: ArithmeticError on overflow,
// and on an expression that grows past kMaxTerms (hostile input must not use unbounded memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kcharter/base/integer.h"

namespace kcharter {

struct ExprNode;

// The value of each variable.
using Bindings = std::map<std::string, Int, std::less<>>;

class Expr {
 public:
  static constexpr size_t kMaxTerms = 4096;

  Expr() = default;               // 0
  Expr(Int constant);             // NOLINT(google-explicit-constructor): numbers are formulas
  Expr(int constant) : Expr(static_cast<Int>(constant)) {}      // NOLINT
  Expr(int64_t constant) : Expr(static_cast<Int>(constant)) {}  // NOLINT
  Expr(uint64_t constant) : Expr(static_cast<Int>(constant)) {} // NOLINT
  // `name` must match [A-Za-z_][A-Za-z0-9_]* and not be a function's name; throws Error otherwise.
  static Expr variable(std::string_view name);

  // The value, where no variable is left.
  std::optional<Int> constant() const;
  bool is_constant() const { return node_ == nullptr; }
  bool is_zero() const { return node_ == nullptr && constant_ == 0; }

  // Throws ArithmeticError on overflow, division by zero or a variable without a value.
  Int evaluate(const Bindings& bindings) const;
  Expr substitute(const std::map<std::string, Expr, std::less<>>& replacements) const;
  // The sum's terms in canonical order: 3*x*y - 2 is {3, x*y}, {-2, 1}; none for 0.
  std::vector<std::pair<Int, Expr>> terms() const;
  std::set<std::string> variables() const;
  void collect_variables(std::set<std::string>& into) const;

  // The grammar of contract and schemas/README.md: integers, names, + - * ( ), functions.
  std::string to_string() const;
  // Throws Error naming the position. parse(e.to_string()) == e. Nesting and length are bounded.
  static Expr parse(std::string_view text);

  size_t hash() const;
  friend bool operator==(const Expr& a, const Expr& b);
  // A total order by structure; not by value.
  friend bool operator<(const Expr& a, const Expr& b);

  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  Expr& operator+=(const Expr& b) { return *this = *this + b; }
  Expr& operator*=(const Expr& b) { return *this = *this * b; }

  const ExprNode* node() const { return node_.get(); }

 private:
  friend struct ExprNode;
  Int constant_ = 0;                          // where node_ is null
  std::shared_ptr<const ExprNode> node_;
};

Expr floor_div(const Expr& a, const Expr& b);  // towards minus infinity
Expr ceil_div(const Expr& a, const Expr& b);
Expr mod(const Expr& a, const Expr& b);
Expr min(const std::vector<Expr>& arguments);  // at least one
Expr max(const std::vector<Expr>& arguments);
inline Expr min(const Expr& a, const Expr& b) { return min(std::vector<Expr>{a, b}); }
inline Expr max(const Expr& a, const Expr& b) { return max(std::vector<Expr>{a, b}); }
// E*(1-(1-k/E)^n): how many distinct experts n tokens are expected to touch when each chooses k of E.
// Doubles by successive multiplication, rounded to the nearest integer.
Expr expected_distinct(const Expr& experts, const Expr& chosen, const Expr& tokens);
// `expr` with every expected_distinct(E,k,n) replaced by k, the fewest that any routing can touch.
Expr with_fewest_experts(const Expr& expr);

// Whether a >= b for every binding in which each variable is at least its lower bound (`lower_bounds`,
// 0 where it names none). A sufficient test: false means "not shown".
bool provably_at_least(const Expr& a, const Expr& b, const Bindings& lower_bounds);

}  // namespace kcharter

template <>
struct std::hash<kcharter::Expr> {
  size_t operator()(const kcharter::Expr& expr) const { return expr.hash(); }
};
