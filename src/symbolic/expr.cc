#include "kcharter/symbolic/expr.h"

#include <algorithm>
#include <array>
#include <utility>

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

constexpr std::array<std::string_view, 6> kFunctionNames = {
    "floor_div", "ceil_div", "mod", "min", "max", "expected_distinct"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_variable_name(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  for (const char c : name) {
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return std::find(kFunctionNames.begin(), kFunctionNames.end(), name) == kFunctionNames.end();
}

// a + scale*b, both in canonical order.
Expr merged(const std::vector<Term>& a, const std::vector<Term>& b, Int scale) {
  std::vector<Term> terms;
  terms.reserve(a.size() + b.size());
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size()   ? 1
                      : j == b.size() ? -1
                                      : compare(a[i].monomial, b[j].monomial);
    if (order < 0) {
      terms.push_back(a[i++]);
    } else if (order > 0) {
      terms.push_back({checked_mul(b[j].coefficient, scale), b[j].monomial});
      ++j;
    } else {
      const Int sum = checked_add(a[i].coefficient, checked_mul(b[j].coefficient, scale));
      if (sum != 0) terms.push_back({sum, a[i].monomial});
      ++i, ++j;
    }
  }
  return ExprNode::make(std::move(terms));
}

Expr scaled(const Expr& expr, Int factor) {
  if (factor == 1) return expr;
  if (factor == 0) return Expr();
  std::vector<Term> terms = expr.node()->terms;
  for (Term& term : terms) term.coefficient = checked_mul(term.coefficient, factor);
  return ExprNode::make(std::move(terms));
}

Expr plus_constant(const Expr& expr, Int constant) {
  if (constant == 0) return expr;
  std::vector<Term> terms = expr.node()->terms;
  if (terms.back().monomial) {
    terms.push_back({constant, nullptr});
  } else {
    terms.back().coefficient = checked_add(terms.back().coefficient, constant);
    if (terms.back().coefficient == 0) terms.pop_back();
  }
  return ExprNode::make(std::move(terms));
}

}  // namespace

Expr::Expr(Int constant) : constant_(constant) {}

Expr Expr::variable(std::string_view name) {
  if (!is_variable_name(name)) {
    throw Error("'" + std::string(name.substr(0, 64)) +
                "' cannot name a variable: letters, digits and '_' only, no digit first");
  }
  auto atom = std::make_shared<Atom>();
  atom->name = name;
  atom->hash = combine_hash(0, std::hash<std::string_view>()(name));
  return expr_of(std::move(atom));
}

std::vector<std::pair<Int, Expr>> Expr::terms() const {
  if (is_constant()) {
    if (constant_ == 0) return {};
    return {{constant_, Expr(1)}};
  }
  std::vector<std::pair<Int, Expr>> terms;
  for (const Term& term : node_->terms) {
    terms.emplace_back(term.coefficient, term.monomial ? expr_of(1, term.monomial) : Expr(1));
  }
  return terms;
}

std::optional<Int> Expr::constant() const {
  if (node_ != nullptr) return std::nullopt;
  return constant_;
}

size_t Expr::hash() const { return node_ != nullptr ? node_->hash : hash_of(constant_); }

bool operator==(const Expr& a, const Expr& b) {
  if (a.node_ == b.node_) return a.node_ != nullptr || a.constant_ == b.constant_;
  if (!a.node_ || !b.node_ || a.node_->hash != b.node_->hash) return false;
  return compare(a, b) == 0;
}

bool operator<(const Expr& a, const Expr& b) { return compare(a, b) < 0; }

Expr operator+(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return checked_add(a.constant_, b.constant_);
  if (a.is_constant()) return plus_constant(b, a.constant_);
  if (b.is_constant()) return plus_constant(a, b.constant_);
  return merged(a.node_->terms, b.node_->terms, 1);
}

Expr operator-(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return checked_sub(a.constant_, b.constant_);
  if (b.is_constant()) return plus_constant(a, checked_sub(0, b.constant_));
  if (a.is_constant()) return plus_constant(scaled(b, -1), a.constant_);
  return merged(a.node_->terms, b.node_->terms, -1);
}

Expr operator*(const Expr& a, const Expr& b) {
  if (a.is_constant() && b.is_constant()) return checked_mul(a.constant_, b.constant_);
  if (a.is_constant()) return scaled(b, a.constant_);
  if (b.is_constant()) return scaled(a, b.constant_);
  const std::vector<Term>& left = a.node_->terms;
  const std::vector<Term>& right = b.node_->terms;
  constexpr size_t kMaxProducts = Expr::kMaxTerms * 16;
  if (left.size() * right.size() > kMaxProducts) {
    throw ArithmeticError("a product of formulas has more than " + std::to_string(kMaxProducts) +
                          " terms");
  }
  std::vector<Term> terms;
  terms.reserve(left.size() * right.size());
  for (const Term& x : left) {
    for (const Term& y : right) {
      terms.push_back(
          {checked_mul(x.coefficient, y.coefficient), multiply(x.monomial, y.monomial)});
    }
  }
  // One term times a sum stays in order: the order of monomials is one that multiplication keeps.
  if (left.size() == 1 || right.size() == 1) return ExprNode::make(std::move(terms));
  return sum_of(std::move(terms));
}

}  // namespace kcharter
