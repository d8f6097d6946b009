// A formula as text, in the grammar of schemas/README.md.

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

void render_atom(const Atom& atom, std::string* out) {
  switch (atom.kind) {
    case AtomKind::kVariable:
      *out += atom.name;
      break;
    case AtomKind::kFloorDiv:
      if (rounds_up(atom)) {
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

void render_term(const Term& term, bool is_first, std::string* out) {
  if (term.coefficient < 0) {
    *out += '-';
  } else if (!is_first) {
    *out += '+';
  }
  const bool is_unit = term.coefficient == 1 || term.coefficient == -1;
  if (!term.monomial || !is_unit) {
    const std::string number = to_string(term.coefficient);
    out->append(number, term.coefficient < 0 ? 1 : 0);
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
