#include "symbolic/expr_node.h"

#include <algorithm>
#include <utility>

namespace kcharter {
namespace {

uint32_t bounded_size(uint64_t size) {
  if (size > kMaxSize) {
    throw ArithmeticError("a formula grows past " + std::to_string(kMaxSize) + " parts");
  }
  return static_cast<uint32_t>(size);
}

uint32_t depth_of(const Expr& expr) { return expr.node() == nullptr ? 0 : expr.node()->depth; }
uint32_t size_of(const Expr& expr) { return expr.node() == nullptr ? 1 : expr.node()->size; }

bool function_at_least_zero(AtomKind kind, const std::vector<Expr>& arguments) {
  switch (kind) {
    case AtomKind::kVariable:
    case AtomKind::kExpectedDistinct:
      return true;
    case AtomKind::kMod:
      return at_least_zero(arguments[1]);
    case AtomKind::kMax:
      return std::any_of(arguments.begin(), arguments.end(), at_least_zero);
    case AtomKind::kFloorDiv:
    case AtomKind::kMin:
      return std::all_of(arguments.begin(), arguments.end(), at_least_zero);
  }
  return false;
}

}  // namespace

size_t combine_hash(size_t seed, size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2);
  return seed * 0xff51afd7ed558ccdULL ^ (seed >> 29);
}

size_t hash_of(Int value) {
  return combine_hash(static_cast<size_t>(value), static_cast<size_t>(value >> 64));
}

int compare(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == AtomKind::kVariable) return a.name.compare(b.name);
  const size_t common = std::min(a.arguments.size(), b.arguments.size());
  for (size_t i = 0; i < common; ++i) {
    if (const int order = compare(a.arguments[i], b.arguments[i])) return order;
  }
  if (a.arguments.size() == b.arguments.size()) return 0;
  return a.arguments.size() < b.arguments.size() ? -1 : 1;
}

int compare(const MonomialPtr& a, const MonomialPtr& b) {
  if (a == b) return 0;
  if (!a || !b) return a ? -1 : 1;
  if (a->degree != b->degree) return a->degree > b->degree ? -1 : 1;
  const size_t common = std::min(a->factors.size(), b->factors.size());
  for (size_t i = 0; i < common; ++i) {
    const Factor& left = a->factors[i];
    const Factor& right = b->factors[i];
    if (const int order = compare(*left.atom, *right.atom)) return order;
    if (left.power != right.power) return left.power > right.power ? -1 : 1;
  }
  return 0;  // of equal degree, so that neither has factors left
}

int compare(const Expr& a, const Expr& b) {
  if (a.node() == b.node() && a.node() != nullptr) return 0;
  if (a.is_constant() || b.is_constant()) {
    if (!a.is_constant() || !b.is_constant()) return a.is_constant() ? -1 : 1;
    const Int left = *a.constant();
    const Int right = *b.constant();
    return left < right ? -1 : (left > right ? 1 : 0);
  }
  const std::vector<Term>& left = a.node()->terms;
  const std::vector<Term>& right = b.node()->terms;
  const size_t common = std::min(left.size(), right.size());
  for (size_t i = 0; i < common; ++i) {
    if (const int order = compare(left[i].monomial, right[i].monomial)) return order;
    if (left[i].coefficient != right[i].coefficient) {
      return left[i].coefficient < right[i].coefficient ? -1 : 1;
    }
  }
  if (left.size() == right.size()) return 0;
  return left.size() < right.size() ? -1 : 1;
}

AtomPtr make_atom(AtomKind kind, std::vector<Expr> arguments) {
  auto atom = std::make_shared<Atom>();
  atom->kind = kind;
  uint64_t size = 1;
  atom->hash = static_cast<size_t>(kind);
  for (const Expr& argument : arguments) {
    size += size_of(argument);
    atom->depth = std::max(atom->depth, depth_of(argument) + 1);
    atom->hash = combine_hash(atom->hash, argument.hash());
  }
  if (atom->depth > kMaxDepth) {
    throw ArithmeticError("a formula nests deeper than " + std::to_string(kMaxDepth));
  }
  atom->size = bounded_size(size);
  atom->at_least_zero = function_at_least_zero(kind, arguments);
  atom->arguments = std::move(arguments);
  return atom;
}

MonomialPtr make_monomial(std::vector<Factor> factors) {
  auto monomial = std::make_shared<Monomial>();
  uint64_t size = 0;
  for (const Factor& factor : factors) {
    monomial->degree += factor.power;
    monomial->depth = std::max(monomial->depth, factor.atom->depth);
    monomial->hash = combine_hash(combine_hash(monomial->hash, factor.atom->hash), factor.power);
    size += uint64_t{factor.atom->size} * factor.power;
    if (monomial->degree > kMaxDegree) {
      throw ArithmeticError("a formula has a degree above " + std::to_string(kMaxDegree));
    }
  }
  monomial->size = bounded_size(size);
  monomial->factors = std::move(factors);
  return monomial;
}

MonomialPtr multiply(const MonomialPtr& a, const MonomialPtr& b) {
  if (!a) return b;
  if (!b) return a;
  std::vector<Factor> factors;
  factors.reserve(a->factors.size() + b->factors.size());
  size_t i = 0;
  size_t j = 0;
  while (i < a->factors.size() && j < b->factors.size()) {
    const int order = compare(*a->factors[i].atom, *b->factors[j].atom);
    if (order < 0) {
      factors.push_back(a->factors[i++]);
    } else if (order > 0) {
      factors.push_back(b->factors[j++]);
    } else {
      factors.push_back({a->factors[i].atom, a->factors[i].power + b->factors[j].power});
      ++i, ++j;
    }
  }
  factors.insert(factors.end(), a->factors.begin() + i, a->factors.end());
  factors.insert(factors.end(), b->factors.begin() + j, b->factors.end());
  return make_monomial(std::move(factors));
}

bool divide(const MonomialPtr& a, const MonomialPtr& b, MonomialPtr* result) {
  if (!b) {
    *result = a;
    return true;
  }
  if (!a || a->degree < b->degree) return false;
  std::vector<Factor> factors;
  size_t j = 0;
  for (const Factor& factor : a->factors) {
    uint32_t power = factor.power;
    if (j < b->factors.size() && compare(*factor.atom, *b->factors[j].atom) == 0) {
      if (power < b->factors[j].power) return false;
      power -= b->factors[j++].power;
    }
    if (power > 0) factors.push_back({factor.atom, power});
  }
  if (j < b->factors.size()) return false;
  *result = factors.empty() ? nullptr : make_monomial(std::move(factors));
  return true;
}

Expr ExprNode::make(std::vector<Term> terms) {
  if (terms.empty()) return Expr();
  if (!terms.front().monomial) return Expr(terms.front().coefficient);
  if (terms.size() > Expr::kMaxTerms) {
    throw ArithmeticError("a formula grows past " + std::to_string(Expr::kMaxTerms) + " terms");
  }
  auto node = std::make_shared<ExprNode>();
  uint64_t size = 0;
  for (const Term& term : terms) {
    node->hash = combine_hash(node->hash, hash_of(term.coefficient));
    if (!term.monomial) continue;
    node->hash = combine_hash(node->hash, term.monomial->hash);
    node->depth = std::max(node->depth, term.monomial->depth);
    size += term.monomial->size + 1;
  }
  node->size = bounded_size(size);
  node->terms = std::move(terms);
  Expr expr;
  expr.node_ = std::move(node);
  return expr;
}

Expr expr_of(Int coefficient, MonomialPtr monomial) {
  if (coefficient == 0) return Expr();
  std::vector<Term> terms;
  terms.push_back({coefficient, std::move(monomial)});
  return ExprNode::make(std::move(terms));
}

Expr expr_of(AtomPtr atom) { return expr_of(1, make_monomial({{std::move(atom), 1}})); }

std::vector<Term> terms_of(const Expr& expr) {
  if (expr.node() != nullptr) return expr.node()->terms;
  if (expr.is_zero()) return {};
  return {{*expr.constant(), nullptr}};
}

Expr sum_of(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare(a.monomial, b.monomial) < 0; });
  std::vector<Term> collected;
  for (Term& term : terms) {
    if (!collected.empty() && compare(collected.back().monomial, term.monomial) == 0) {
      collected.back().coefficient = checked_add(collected.back().coefficient, term.coefficient);
    } else {
      if (!collected.empty() && collected.back().coefficient == 0) collected.pop_back();
      collected.push_back(std::move(term));
    }
  }
  if (!collected.empty() && collected.back().coefficient == 0) collected.pop_back();
  return ExprNode::make(std::move(collected));
}

bool at_least_zero(const Expr& expr) {
  if (expr.is_constant()) return *expr.constant() >= 0;
  for (const Term& term : expr.node()->terms) {
    if (term.coefficient < 0) return false;
    if (!term.monomial) continue;
    for (const Factor& factor : term.monomial->factors) {
      if (!factor.atom->at_least_zero && factor.power % 2 == 1) return false;
    }
  }
  return true;
}

}  // namespace kcharter
