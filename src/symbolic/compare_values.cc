// provably_at_least: a sufficient test of a >= b.
//
// The variables are shifted to their lower bounds, after which a difference without negative
// coefficients is at least 0. Where that does not show it, one atom at a time is replaced by a
// bound:
//   max(p, q) >= p          min(p, q) <= p          (any argument that shows it)
//   min(p, q): one of p, q  max(p, q): one of p, q  (every argument must show it)
//   (p-c+1)/c <= floor_div(p, c) <= p/c             (the difference times c)

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

constexpr int kMaxBranches = 64;

// `term` of `difference` without one power of factor `index`, and the rest of the sum.
struct Picked {
  Expr cofactor;
  Expr others;
  AtomPtr atom;
};

Picked pick(const Expr& difference, const Term& term, size_t index) {
  std::vector<Factor> factors = term.monomial->factors;
  const AtomPtr atom = factors[index].atom;
  if (--factors[index].power == 0) factors.erase(factors.begin() + static_cast<long>(index));
  MonomialPtr rest = factors.empty() ? nullptr : make_monomial(std::move(factors));
  return {expr_of(term.coefficient, std::move(rest)),
          difference - expr_of(term.coefficient, term.monomial), atom};
}

bool shown(const Expr& difference, int* budget);

bool shown_by_bound(const Picked& picked, bool is_positive, int* budget) {
  const Atom& atom = *picked.atom;
  if (atom.kind == AtomKind::kFloorDiv) {
    const std::optional<Int> divisor = atom.arguments[1].constant();
    if (!divisor) return false;  // a constant divisor is positive in canonical form
    const Expr bound = is_positive ? atom.arguments[0] - *divisor + 1 : atom.arguments[0];
    return shown(picked.others * Expr(*divisor) + picked.cofactor * bound, budget);
  }
  if (atom.kind == AtomKind::kMod) {
    // 0 <= mod(p, c) <= c-1
    const std::optional<Int> divisor = atom.arguments[1].constant();
    if (!divisor) return false;
    const Expr bound = is_positive ? Expr(0) : Expr(*divisor - 1);
    return shown(picked.others + picked.cofactor * bound, budget);
  }
  if (atom.kind != AtomKind::kMin && atom.kind != AtomKind::kMax) return false;
  const bool any = (atom.kind == AtomKind::kMax) == is_positive;
  for (const Expr& argument : atom.arguments) {
    if (shown(picked.others + picked.cofactor * argument, budget) == any) return any;
  }
  return !any;
}

// The other factors must be at least 0 for a bound of one factor to bound the product.
bool others_at_least_zero(const Monomial& monomial, size_t index) {
  for (size_t i = 0; i < monomial.factors.size(); ++i) {
    if (i == index && monomial.factors[i].power == 1) continue;
    if (!monomial.factors[i].atom->at_least_zero) return false;
  }
  return true;
}

bool shown(const Expr& difference, int* budget) {
  if (at_least_zero(difference)) return true;
  if (difference.is_constant() || --*budget <= 0) return false;
  for (const Term& term : difference.node()->terms) {
    if (!term.monomial) continue;
    for (size_t i = 0; i < term.monomial->factors.size(); ++i) {
      if (term.monomial->factors[i].atom->kind == AtomKind::kVariable) continue;
      if (!others_at_least_zero(*term.monomial, i)) continue;
      if (shown_by_bound(pick(difference, term, i), term.coefficient > 0, budget)) return true;
    }
  }
  return false;
}

}  // namespace

bool provably_at_least(const Expr& a, const Expr& b, const Bindings& lower_bounds) {
  try {
    Expr difference = a - b;
    if (at_least_zero(difference)) return true;
    std::map<std::string, Expr, std::less<>> shifted;
    for (const std::string& name : difference.variables()) {
      const auto bound = lower_bounds.find(name);
      if (bound != lower_bounds.end() && bound->second > 0) {
        shifted[name] = Expr::variable(name) + bound->second;
      }
    }
    int budget = kMaxBranches;
    return shown(difference.substitute(shifted), &budget);
  } catch (const ArithmeticError&) {
    return false;  // too large to be shown
  }
}

}  // namespace kcharter
