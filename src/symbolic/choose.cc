// min, max and expected_distinct of formulas, and what can be shown of their order.

#include <algorithm>
#include <utility>

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

// Above this many arguments only equal ones are found: comparing all pairs would take too long.
constexpr size_t kMaxCompared = 128;

void flatten(AtomKind kind, const Expr& argument, std::vector<Expr>* into) {
  if (argument.node() != nullptr && argument.node()->terms.size() == 1) {
    const Term& term = argument.node()->terms[0];
    const Factor& factor = term.monomial->factors[0];
    if (term.coefficient == 1 && term.monomial->degree == 1 && factor.atom->kind == kind) {
      into->insert(into->end(), factor.atom->arguments.begin(), factor.atom->arguments.end());
      return;
    }
  }
  into->push_back(argument);
}

// The arguments that no other one makes superfluous for every value of the variables.
std::vector<Expr> undominated(AtomKind kind, const std::vector<Expr>& arguments) {
  std::vector<Expr> kept;
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool dominated = false;
    for (size_t j = 0; j < arguments.size() && !dominated; ++j) {
      if (i == j) continue;
      dominated = at_least_zero(kind == AtomKind::kMax ? arguments[j] - arguments[i]
                                                       : arguments[i] - arguments[j]);
    }
    if (!dominated) kept.push_back(arguments[i]);
  }
  return kept;
}

Expr choose(AtomKind kind, const std::vector<Expr>& given) {
  if (given.empty()) throw Error("min and max need an argument");
  std::vector<Expr> arguments;
  for (const Expr& argument : given) flatten(kind, argument, &arguments);
  std::sort(arguments.begin(), arguments.end());
  arguments.erase(std::unique(arguments.begin(), arguments.end()), arguments.end());
  // Constants stand first, in order: one of them is left.
  const auto symbolic = std::find_if(arguments.begin(), arguments.end(),
                                     [](const Expr& e) { return !e.is_constant(); });
  if (symbolic - arguments.begin() > 1) {
    const Expr kept = kind == AtomKind::kMax ? *(symbolic - 1) : arguments.front();
    arguments.erase(arguments.begin(), symbolic - 1);
    arguments.front() = kept;
  }
  if (arguments.size() > 1 && arguments.size() <= kMaxCompared) {
    arguments = undominated(kind, arguments);
  }
  if (arguments.size() == 1) return arguments.front();
  if (arguments.size() > Expr::kMaxTerms) {
    throw ArithmeticError("min or max of more than " + std::to_string(Expr::kMaxTerms) +
                          " formulas");
  }
  return expr_of(make_atom(kind, std::move(arguments)));
}

}  // namespace

Expr min(const std::vector<Expr>& arguments) { return choose(AtomKind::kMin, arguments); }
Expr max(const std::vector<Expr>& arguments) { return choose(AtomKind::kMax, arguments); }

Int expected_distinct(Int experts, Int chosen, Int tokens) {
  // Far above any model; it bounds the steps until the product no longer matters.
  constexpr Int kMaxExperts = 1 << 20;
  if (experts < 1 || experts > kMaxExperts || chosen < 0 || chosen > experts) {
    throw ArithmeticError("expected_distinct of " + to_string(chosen) + " out of " +
                          to_string(experts) + " experts");
  }
  if (tokens <= 0 || chosen == 0) return 0;
  const double count = static_cast<double>(experts);
  const double missed = 1 - static_cast<double>(chosen) / count;
  double untouched = 1;
  // Below a quarter of an expert the rounded result stays what it is.
  for (Int token = 0; token < tokens && untouched * count >= 0.25; ++token) untouched *= missed;
  return static_cast<Int>(count * (1 - untouched) + 0.5);
}

Expr expected_distinct(const Expr& experts, const Expr& chosen, const Expr& tokens) {
  const auto e = experts.constant();
  const auto k = chosen.constant();
  const auto n = tokens.constant();
  if (e && k && n) return expected_distinct(*e, *k, *n);
  if (n && *n == 1) return chosen;
  return expr_of(make_atom(AtomKind::kExpectedDistinct, {experts, chosen, tokens}));
}

}  // namespace kcharter
