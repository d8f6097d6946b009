// A formula as text, in the grammar of schemas/README.md.

#include <algorithm>

#include "symbolic/expr_node.h"

namespace kcharter {
namespace {

void render(const Expr& expr, std::string* out);

void render_call(std::string_view function, const std::vector<Expr>& arguments, std::string* out) {
  *out += function;
  char separator = '(';
  for (const Expr& argument : arguments) {
    *out += separator;
    render(argument, out);
    separator = ',';
  }
  *out += ')';
}

// floor_div(x+c-1, c) is how a division that rounds up is stored; people read ceil_div(x, c).
bool rounds_up(const Atom& atom) {
  const std::optional<Int> divisor = atom.arguments[1].constant();
  if (!divisor || *divisor < 2 || atom.arguments[0].is_constant()) return false;
  const Term& last = atom.arguments[0].node()->terms.back();
  return !last.monomial && last.coefficient == *divisor - 1;
}

// -floor_div(-x, y) is how one by a formula is stored; people read ceil_div(x, y), without the signs.
bool rounds_up_negated(const Atom& atom) {
  if (atom.kind != AtomKind::kFloorDiv || atom.arguments[1].is_constant() || atom.arguments[0].is_constant()) {
    return false;
  }
  return std::ranges::all_of(atom.arguments[0].node()->terms,
                             [](const Term& term) { return term.coefficient < 0; });
}

void render_atom(const Atom& atom, std::string* out) {
  switch (atom.kind) {
    case AtomKind::kVariable:
      *out += atom.name;
      break;
    case AtomKind::kFloorDiv:
      if (rounds_up_negated(atom)) {
        render_call("ceil_div", {Expr(0) - atom.arguments[0], atom.arguments[1]}, out);
      } else if (rounds_up(atom)) {
        const Expr& divisor = atom.arguments[1];
        render_call("ceil_div", {atom.arguments[0] - divisor + 1, divisor}, out);
      } else {
        render_call("floor_div", atom.arguments, out);
      }
      break;
    case AtomKind::kMod:
      render_call("mod", atom.arguments, out);
      break;
    case AtomKind::kMin:
      render_call("min", atom.arguments, out);
      break;
    case AtomKind::kMax:
      render_call("max", atom.arguments, out);
      break;
    case AtomKind::kExpectedDistinct:
      render_call("expected_distinct", atom.arguments, out);
      break;
  }
}

// What remains to be written before the factors once those that round up have taken their signs.
Int coefficient_of(const Term& term) {
  Int coefficient = term.coefficient;
  if (!term.monomial) return coefficient;
  for (const Factor& factor : term.monomial->factors) {
    if (factor.power % 2 == 1 && rounds_up_negated(*factor.atom)) coefficient = checked_sub(0, coefficient);
  }
  return coefficient;
}

void render_term(const Term& term, bool is_first, std::string* out) {
  const Int coefficient = coefficient_of(term);
  if (coefficient < 0) {
    *out += '-';
  } else if (!is_first) {
    *out += '+';
  }
  const bool is_unit = coefficient == 1 || coefficient == -1;
  if (!term.monomial || !is_unit) {
    const std::string number = to_string(coefficient);
    out->append(number, coefficient < 0 ? 1 : 0);
    if (term.monomial) *out += '*';
  }
  if (!term.monomial) return;
  bool is_first_factor = true;
  for (const Factor& factor : term.monomial->factors) {
    for (uint32_t i = 0; i < factor.power; ++i) {
      if (!is_first_factor) *out += '*';
      is_first_factor = false;
      render_atom(*factor.atom, out);
    }
  }
}

void render(const Expr& expr, std::string* out) {
  if (const std::optional<Int> constant = expr.constant()) {
    *out += to_string(*constant);
    return;
  }
  bool is_first = true;
  for (const Term& term : expr.node()->terms) {
    render_term(term, is_first, out);
    is_first = false;
  }
}

}  // namespace

std::string Expr::to_string() const {
  std::string out;
  render(*this, &out);
  return out;
}

}  // namespace kcharter
