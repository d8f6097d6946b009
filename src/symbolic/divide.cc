// floor_div, ceil_div and mod of formulas. Each rewriting is an identity of integers; together they
// make one form of every division by a constant: 0 <= coefficient < divisor, no common factor.

#include <algorithm>
#include <optional>
#include <utility>

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

Int gcd(Int a, Int b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a < 0 ? checked_sub(0, a) : a;
}

struct Split {
  Expr quotient;
  Expr rest;
};

// a = c*quotient + rest, each coefficient of the rest in [0, c).
Split split_by(const Expr& a, Int c) {
  std::vector<Term> quotient;
  std::vector<Term> rest;
  for (const Term& term : terms_of(a)) {
    const Int q = floor_div(term.coefficient, c);
    const Int r = floor_mod(term.coefficient, c);
    if (q != 0) quotient.push_back({q, term.monomial});
    if (r != 0) rest.push_back({r, term.monomial});
  }
  return {ExprNode::make(std::move(quotient)), ExprNode::make(std::move(rest))};
}

// The greatest common divisor of c and the coefficients of all terms but the constant.
Int common_factor(const Expr& rest, Int c) {
  Int common = c;
  for (const Term& term : rest.node()->terms) {
    if (term.monomial) common = gcd(common, term.coefficient);
  }
  return common;
}

// floor of rest/g, where g divides every coefficient but perhaps the constant.
Expr divided_terms(const Expr& rest, Int g) {
  std::vector<Term> terms;
  for (const Term& term : rest.node()->terms) {
    const Int coefficient = floor_div(term.coefficient, g);
    if (coefficient != 0) terms.push_back({coefficient, term.monomial});
  }
  return ExprNode::make(std::move(terms));
}

Int constant_term(const Expr& expr) {
  const Term& last = expr.node()->terms.back();
  return last.monomial ? Int{0} : last.coefficient;
}

// floor_div(y, b) + k as {y + k*b, b}, where `expr` is that and b a constant.
std::optional<std::pair<Expr, Int>> as_floor_div(const Expr& expr) {
  const std::vector<Term>& terms = expr.node()->terms;
  if (terms.size() > 2 || (terms.size() == 2 && terms[1].monomial)) return std::nullopt;
  const Monomial& monomial = *terms[0].monomial;
  if (terms[0].coefficient != 1 || monomial.degree != 1) return std::nullopt;
  const Atom& atom = *monomial.factors[0].atom;
  if (atom.kind != AtomKind::kFloorDiv || !atom.arguments[1].is_constant()) return std::nullopt;
  const Int divisor = *atom.arguments[1].constant();
  const Int shift = checked_mul(constant_term(expr), divisor);
  return std::pair(atom.arguments[0] + Expr(shift), divisor);
}

Expr floor_div_constant(const Expr& a, Int c) {
  if (c == 0) throw ArithmeticError("division of '" + a.to_string() + "' by zero");
  if (c < 0) return floor_div_constant(Expr(0) - a, checked_sub(0, c));
  if (c == 1) return a;
  Split split = split_by(a, c);
  if (split.rest.is_constant()) return split.quotient;
  const Int common = common_factor(split.rest, c);
  if (common > 1) {
    return split.quotient + floor_div_constant(divided_terms(split.rest, common), c / common);
  }
  if (const auto inner = as_floor_div(split.rest)) {
    return split.quotient + floor_div_constant(inner->first, checked_mul(inner->second, c));
  }
  return split.quotient + expr_of(make_atom(AtomKind::kFloorDiv, {std::move(split.rest), Expr(c)}));
}

// Whether b divides a without a rest, as polynomials with integer coefficients.
std::optional<Expr> exact_quotient(Expr a, const Expr& b) {
  const Term& lead = b.node()->terms.front();
  constexpr int kMaxSteps = 64;
  Expr quotient;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (a.is_zero()) return quotient;
    if (a.is_constant()) return std::nullopt;
    const Term& first = a.node()->terms.front();
    MonomialPtr monomial;
    if (first.coefficient % lead.coefficient != 0 ||
        !divide(first.monomial, lead.monomial, &monomial)) {
      return std::nullopt;
    }
    const Expr part = expr_of(first.coefficient / lead.coefficient, std::move(monomial));
    quotient += part;
    a = a - part * b;
  }
  return std::nullopt;
}

// The largest monomial and number that divide every term of both. A divisor is never zero, so
// neither is a factor of it, and dividing both sides by it changes no quotient.
Term common_term(const Expr& a, const Expr& b) {
  Int number = 0;
  std::optional<MonomialPtr> monomial;
  for (const Expr* side : {&a, &b}) {
    for (const Term& term : side->node()->terms) {
      number = gcd(number, term.coefficient);
      if (!term.monomial) {
        monomial = nullptr;
      } else if (!monomial) {
        monomial = term.monomial;
      } else if (*monomial) {
        std::vector<Factor> shared;
        for (const Factor& factor : (*monomial)->factors) {
          for (const Factor& other : term.monomial->factors) {
            if (compare(*factor.atom, *other.atom) == 0) {
              shared.push_back({factor.atom, std::min(factor.power, other.power)});
            }
          }
        }
        monomial = shared.empty() ? nullptr : make_monomial(std::move(shared));
      }
    }
  }
  return {number, monomial.value_or(nullptr)};
}

Expr divided_by_term(const Expr& a, const Term& divisor) {
  std::vector<Term> terms;
  for (const Term& term : a.node()->terms) {
    MonomialPtr monomial;
    divide(term.monomial, divisor.monomial, &monomial);
    terms.push_back({term.coefficient / divisor.coefficient, std::move(monomial)});
  }
  return sum_of(std::move(terms));
}

}  // namespace

Expr floor_div(const Expr& a, const Expr& b) {
  if (const std::optional<Int> c = b.constant()) return floor_div_constant(a, *c);
  if (a.is_zero()) return a;
  if (!a.is_constant()) {
    if (const std::optional<Expr> quotient = exact_quotient(a, b)) return *quotient;
    const Term common = common_term(a, b);
    if (common.coefficient > 1 || common.monomial) {
      return floor_div(divided_by_term(a, common), divided_by_term(b, common));
    }
  }
  return expr_of(make_atom(AtomKind::kFloorDiv, {a, b}));
}

Expr ceil_div(const Expr& a, const Expr& b) {
  if (const std::optional<Int> c = b.constant(); c && *c > 0) return floor_div(a + (*c - 1), b);
  return Expr(0) - floor_div(Expr(0) - a, b);
}

Expr mod(const Expr& a, const Expr& b) {
  if (const std::optional<Int> c = b.constant()) {
    if (*c == 0) throw ArithmeticError("remainder of '" + a.to_string() + "' by zero");
    if (*c < 0) return Expr(0) - mod(Expr(0) - a, checked_sub(0, *c));
    const Expr rest = split_by(a, *c).rest;
    if (rest.is_constant()) return rest;
    const Int common = common_factor(rest, *c);
    if (common > 1) {
      return Expr(common) * mod(divided_terms(rest, common), *c / common) +
             floor_mod(constant_term(rest), common);
    }
    return expr_of(make_atom(AtomKind::kMod, {rest, b}));
  }
  if (a.is_zero()) return a;
  if (!a.is_constant() && exact_quotient(a, b)) return Expr();
  return expr_of(make_atom(AtomKind::kMod, {a, b}));
}

}  // namespace kcharter
