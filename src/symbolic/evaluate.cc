// The value of a formula, and formulas put in the place of its variables.

#include <algorithm>

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

Int evaluate_atom(const Atom& atom, const Bindings& bindings) {
  if (atom.kind == AtomKind::kVariable) {
    const auto found = bindings.find(atom.name);
    if (found == bindings.end()) throw ArithmeticError("'" + atom.name + "' has no value");
    return found->second;
  }
  const auto value = [&](size_t i) { return atom.arguments[i].evaluate(bindings); };
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
      return floor_div(value(0), value(1));
    case AtomKind::kMod:
      return floor_mod(value(0), value(1));
    case AtomKind::kExpectedDistinct:
      return expected_distinct(value(0), value(1), value(2));
    default:
      break;
  }
  Int result = value(0);
  for (size_t i = 1; i < atom.arguments.size(); ++i) {
    const Int next = value(i);
    result = atom.kind == AtomKind::kMin ? std::min(result, next) : std::max(result, next);
  }
  return result;
}

// `expr` with every atom replaced by what `replace` makes of it.
template <typename Replace>
Expr rebuild(const Expr& expr, const Replace& replace) {
  if (expr.node() == nullptr) return expr;
  Expr sum;
  for (const Term& term : expr.node()->terms) {
    Expr product(term.coefficient);
    if (term.monomial) {
      for (const Factor& factor : term.monomial->factors) {
        const Expr value = replace(*factor.atom);
        for (uint32_t i = 0; i < factor.power; ++i) product *= value;
      }
    }
    sum += product;
  }
  return sum;
}

// The function `kind` of `arguments`, in canonical form.
Expr function_of(AtomKind kind, const std::vector<Expr>& arguments) {
  switch (kind) {
    case AtomKind::kFloorDiv:
      return floor_div(arguments[0], arguments[1]);
    case AtomKind::kMod:
      return mod(arguments[0], arguments[1]);
    case AtomKind::kMin:
      return min(arguments);
    case AtomKind::kMax:
      return max(arguments);
    default:
      return expected_distinct(arguments[0], arguments[1], arguments[2]);
  }
}

template <typename Change>
std::vector<Expr> changed_arguments(const Atom& atom, const Change& change) {
  std::vector<Expr> arguments;
  arguments.reserve(atom.arguments.size());
  for (const Expr& argument : atom.arguments) arguments.push_back(change(argument));
  return arguments;
}

}  // namespace

Int Expr::evaluate(const Bindings& bindings) const {
  if (node_ == nullptr) return constant_;
  Int sum = 0;
  for (const Term& term : node_->terms) {
    Int product = term.coefficient;
    if (term.monomial) {
      for (const Factor& factor : term.monomial->factors) {
        const Int value = evaluate_atom(*factor.atom, bindings);
        for (uint32_t i = 0; i < factor.power; ++i) product = checked_mul(product, value);
      }
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

Expr Expr::substitute(const std::map<std::string, Expr, std::less<>>& replacements) const {
  if (replacements.empty()) return *this;
  return rebuild(*this, [&](const Atom& atom) {
    if (atom.kind == AtomKind::kVariable) {
      const auto found = replacements.find(atom.name);
      return found != replacements.end() ? found->second : Expr::variable(atom.name);
    }
    return function_of(atom.kind, changed_arguments(atom, [&](const Expr& argument) {
                   return argument.substitute(replacements);
                 }));
  });
}

Expr with_fewest_experts(const Expr& expr) {
  return rebuild(expr, [](const Atom& atom) {
    if (atom.kind == AtomKind::kVariable) return Expr::variable(atom.name);
    if (atom.kind == AtomKind::kExpectedDistinct) return with_fewest_experts(atom.arguments[1]);
    return function_of(atom.kind, changed_arguments(atom, with_fewest_experts));
  });
}

void Expr::collect_variables(std::set<std::string>& into) const {
  if (node_ == nullptr) return;
  for (const Term& term : node_->terms) {
    if (!term.monomial) continue;
    for (const Factor& factor : term.monomial->factors) {
      if (factor.atom->kind == AtomKind::kVariable) into.insert(factor.atom->name);
      for (const Expr& argument : factor.atom->arguments) argument.collect_variables(into);
    }
  }
}

std::set<std::string> Expr::variables() const {
  std::set<std::string> found;
  collect_variables(found);
  return found;
}

}  // namespace kcharter
