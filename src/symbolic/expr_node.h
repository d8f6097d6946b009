// How an Expr is stored: a sum of terms in canonical order, sharing monomials and atoms.
//
//   3*x*x*y - 2     terms {3, {x^2, y}}, {-2, none}
//
// Depth, degree and size are bounded when a node is made, so that comparison, printing and
// destruction may recurse.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

enum class AtomKind : uint8_t { kVariable, kFloorDiv, kMod, kMin, kMax, kExpectedDistinct };

// A variable, or a function of canonical Exprs. kFloorDiv and kMod take two arguments.
struct Atom {
  AtomKind kind = AtomKind::kVariable;
  std::string name;             // of a variable
  std::vector<Expr> arguments;  // of a function
  size_t hash = 0;
  uint32_t depth = 0;         // nesting of functions
  uint32_t size = 1;          // atoms in the whole tree below
  bool at_least_zero = true;  // for all variables >= 0
};
using AtomPtr = std::shared_ptr<const Atom>;

struct Factor {
  AtomPtr atom;
  uint32_t power = 1;
};

// A product of powers of distinct atoms, in the order of compare(Atom).
struct Monomial {
  std::vector<Factor> factors;
  size_t hash = 0;
  uint32_t degree = 0;
  uint32_t depth = 0;
  uint32_t size = 0;
};
using MonomialPtr = std::shared_ptr<const Monomial>;

struct Term {
  Int coefficient = 0;   // never 0
  MonomialPtr monomial;  // null: the constant term, which stands last
};

struct ExprNode {
  std::vector<Term> terms;  // not empty; not the constant term alone
  size_t hash = 0;
  uint32_t depth = 0;
  uint32_t size = 0;

  // Takes terms in canonical order without zeros.
  static Expr make(std::vector<Term> terms);
};

inline constexpr uint32_t kMaxDepth = 64;
inline constexpr uint32_t kMaxDegree = 64;
inline constexpr uint32_t kMaxSize = 1 << 18;

size_t combine_hash(size_t seed, size_t value);
size_t hash_of(Int value);

// Below, at or above 0 as `a` stands before, at or after `b`. Variables before functions, by name;
// functions by kind and arguments.
int compare(const Atom& a, const Atom& b);
// Higher degree first, then by the first atom that differs: the graded lexicographic order, which
// multiplication keeps. Null stands last.
int compare(const MonomialPtr& a, const MonomialPtr& b);
int compare(const Expr& a, const Expr& b);

AtomPtr make_atom(AtomKind kind, std::vector<Expr> arguments);
Expr expr_of(AtomPtr atom);
Expr expr_of(Int coefficient, MonomialPtr monomial);
MonomialPtr make_monomial(std::vector<Factor> factors);
MonomialPtr multiply(const MonomialPtr& a, const MonomialPtr& b);
// Whether `b` divides `a`; the quotient in `result`.
bool divide(const MonomialPtr& a, const MonomialPtr& b, MonomialPtr* result);

// The terms of any Expr; a constant has one or none.
std::vector<Term> terms_of(const Expr& expr);
// Orders, collects and drops zeros.
Expr sum_of(std::vector<Term> terms);

// Every coefficient and atom shown to be at least 0.
bool at_least_zero(const Expr& expr);

// floor_div, mod and the others on numbers, as expressions evaluate them.
Int expected_distinct(Int experts, Int chosen, Int tokens);

}  // namespace kcharter
