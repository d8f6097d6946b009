// Arithmetic, comparison and logic on the numbers of small tensors.
#include <cmath>

#include "shape/dim_rules.h"
#include "shape/evaluate_elements.h"

namespace kcharter {
namespace {

using Unary = MaybeElement (*)(const MaybeElement&, const NodeInference&);
using Binary = MaybeElement (*)(const MaybeElement&, const MaybeElement&, const NodeInference&);

TensorType output_type(const NodeInference& node) { return node.graph[node.node.outputs[0]].type; }

bool gives_integers(const NodeInference& node) {
  const DType dtype = output_type(node).dtype;
  return is_integer(dtype) || dtype == DType::kBool;
}

MaybeElement flag(bool value) { return Element{Expr(value ? 1 : 0)}; }

// Where the element of an operand stands for the element at `at` of the broadcast result.
size_t broadcast_index(const Sizes& at, const Sizes& sizes) {
  const size_t missing = at.size() - sizes.size();
  int64_t index = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    index = index * sizes[i] + (sizes[i] == 1 ? 0 : at[missing + i]);
  }
  return static_cast<size_t>(index);
}

void fold_binary(NodeInference& node, Binary operation) {
  const auto sizes = small_sizes(output_type(node));
  if (!sizes) return;
  Elements result;
  for (size_t operand = 0; operand < node.input_count(); ++operand) {
    const auto operand_sizes = known_sizes(node, operand);
    if (!operand_sizes || operand_sizes->size() > sizes->size()) return;
    Elements next(static_cast<size_t>(count(*sizes)));
    for (size_t i = 0; i < next.size(); ++i) {
      const Sizes at = position(static_cast<int64_t>(i), *sizes);
      const MaybeElement& value = (*node.elements(operand))[broadcast_index(at, *operand_sizes)];
      next[i] = operand == 0 ? value : operation(result[i], value, node);
    }
    result = std::move(next);
  }
  node.set_elements(0, std::move(result));
}

template <Binary operation>
void binary(NodeInference& node) {
  fold_binary(node, operation);
}

template <Unary operation>
void unary(NodeInference& node) {
  const Elements* elements = node.elements(0);
  if (elements == nullptr) return;
  Elements result;
  for (const MaybeElement& value : *elements) result.push_back(operation(value, node));
  node.set_elements(0, std::move(result));
}

MaybeElement plus_of(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  return add(a, b);
}
MaybeElement minus_of(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  return subtract(a, b);
}
MaybeElement times_of(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  return multiply(a, b);
}
// Integers are divided towards zero.
MaybeElement quotient_of(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  const MaybeElement exact = divide(a, b, node.bounds());
  return gives_integers(node) ? truncate(exact, node.bounds()) : exact;
}

MaybeElement remainder_of(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  const Dim x = integer(a);
  const Dim y = integer(b);
  if (!x || !y || !node.at_least(y, 1)) return std::nullopt;
  const bool like_dividend = int_attribute(node.node, "fmod", 0) != 0;
  if (like_dividend && !node.at_least(x, 0)) return std::nullopt;
  return Element{mod(*x, *y)};
}

MaybeElement power_of(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  const auto exponent = constant(b);
  if (!a || !exponent || *exponent < 0 || *exponent > 8) return std::nullopt;
  MaybeElement result = Element{Expr(1)};
  for (int64_t i = 0; i < *exponent; ++i) result = multiply(result, a);
  return result;
}

MaybeElement smaller_of(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  return smaller(a, b, node.bounds());
}
MaybeElement larger_of(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  return larger(a, b, node.bounds());
}

MaybeElement equal(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  const Order order = compare(a, b, node.bounds());
  if (order == Order::kUnknown) return std::nullopt;
  return flag(order == Order::kEqual);
}

MaybeElement less(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  if (!a || !b) return std::nullopt;
  const Order order = compare(a, b, node.bounds());
  if (order == Order::kLess) return flag(true);
  if (order == Order::kGreater || order == Order::kEqual) return flag(false);
  const Expr left = a->numerator * b->denominator;
  const Expr right = b->numerator * a->denominator;
  if (node.bounds().at_least(left, right)) return flag(false);
  return std::nullopt;
}

MaybeElement greater(const MaybeElement& a, const MaybeElement& b, const NodeInference& node) {
  return less(b, a, node);
}

MaybeElement negated(const MaybeElement& a, const NodeInference&) {
  const auto value = constant(a);
  if (!value) return std::nullopt;
  return flag(*value == 0);
}

MaybeElement less_or_equal(const MaybeElement& a, const MaybeElement& b,
                           const NodeInference& node) {
  return negated(less(b, a, node), node);
}

MaybeElement greater_or_equal(const MaybeElement& a, const MaybeElement& b,
                              const NodeInference& node) {
  return negated(less(a, b, node), node);
}

// One known side may decide.
MaybeElement both(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  if (constant(a) == 0 || constant(b) == 0) return flag(false);
  if (!constant(a) || !constant(b)) return std::nullopt;
  return flag(true);
}

MaybeElement either(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  if (constant(a).value_or(0) != 0 || constant(b).value_or(0) != 0) return flag(true);
  if (!constant(a) || !constant(b)) return std::nullopt;
  return flag(false);
}

MaybeElement exclusive(const MaybeElement& a, const MaybeElement& b, const NodeInference&) {
  if (!constant(a) || !constant(b)) return std::nullopt;
  return flag((*constant(a) != 0) != (*constant(b) != 0));
}

MaybeElement minus_one(const MaybeElement& a, const NodeInference&) { return negate(a); }
MaybeElement rounded_down(const MaybeElement& a, const NodeInference&) { return floor(a); }
MaybeElement rounded_up(const MaybeElement& a, const NodeInference&) { return ceil(a); }

// Halves go to the even neighbour; of formulas only whole ones are known to stay.
MaybeElement rounded(const MaybeElement& a, const NodeInference&) {
  if (!a || a->is_integer()) return a;
  const auto number = to_double(a);
  return number ? element(std::nearbyint(*number)) : std::nullopt;
}

MaybeElement magnitude(const MaybeElement& a, const NodeInference& node) {
  if (!a) return a;
  if (node.at_least(a->numerator, 0)) return a;
  if (node.bounds().at_least(Expr(0), a->numerator)) return negate(a);
  return std::nullopt;
}

MaybeElement sign(const MaybeElement& a, const NodeInference& node) {
  switch (compare(a, Element{Expr(0)}, node.bounds())) {
    case Order::kGreater:
      return Element{Expr(1)};
    case Order::kEqual:
      return Element{Expr(0)};
    case Order::kLess:
      return Element{Expr(-1)};
    default:
      return std::nullopt;
  }
}

MaybeElement positive_part(const MaybeElement& a, const NodeInference& node) {
  return larger_of(a, Element{Expr(0)}, node);
}

MaybeElement square_root(const MaybeElement& a, const NodeInference&) {
  const auto number = to_double(a);
  return number && *number >= 0 ? element(std::sqrt(*number)) : std::nullopt;
}

MaybeElement reciprocal(const MaybeElement& a, const NodeInference& node) {
  return divide(Element{Expr(1)}, a, node.bounds());
}

MaybeElement converted(const MaybeElement& a, const NodeInference& node) {
  if (!a) return a;
  if (output_type(node).dtype == DType::kBool) {
    return negated(equal(a, Element{Expr(0)}, node), node);
  }
  return gives_integers(node) ? truncate(a, node.bounds()) : a;
}

// Where with a known condition, or with two equal branches.
void where(NodeInference& node) {
  const auto sizes = small_sizes(output_type(node));
  std::optional<Sizes> operands[3];
  for (size_t i = 0; i < 3; ++i) operands[i] = small_sizes(node.input(i));
  if (!sizes || !operands[0] || !operands[1] || !operands[2]) return;
  Elements result(static_cast<size_t>(count(*sizes)));
  for (size_t i = 0; i < result.size(); ++i) {
    const Sizes at = position(static_cast<int64_t>(i), *sizes);
    MaybeElement values[3];
    for (size_t operand = 0; operand < 3; ++operand) {
      const size_t index = broadcast_index(at, *operands[operand]);
      const Elements* elements = node.elements(operand);
      if (elements != nullptr && index < elements->size()) values[operand] = (*elements)[index];
    }
    const auto condition = constant(values[0]);
    if (condition)
      result[i] = values[*condition != 0 ? 1 : 2];
    else if (values[1] == values[2])
      result[i] = values[1];
  }
  node.set_elements(0, std::move(result));
}

void clip(NodeInference& node) {
  const Elements* elements = node.elements(0);
  if (elements == nullptr) return;
  const bool has_low = node.has_input(1) || find_attribute(node.node, "min") != nullptr;
  const bool has_high = node.has_input(2) || find_attribute(node.node, "max") != nullptr;
  const MaybeElement low =
      node.has_input(1) ? node.scalar(1) : element(float_attribute(node.node, "min", 0));
  const MaybeElement high =
      node.has_input(2) ? node.scalar(2) : element(float_attribute(node.node, "max", 0));
  Elements result;
  for (MaybeElement value : *elements) {
    if (has_low) value = larger_of(value, low, node);
    if (has_high) value = smaller_of(value, high, node);
    result.push_back(std::move(value));
  }
  node.set_elements(0, std::move(result));
}

}  // namespace

std::vector<ElementRuleEntry> arithmetic_element_rules() {
  return {
      {"Add", binary<plus_of>},
      {"Sub", binary<minus_of>},
      {"Mul", binary<times_of>},
      {"Div", binary<quotient_of>},
      {"Mod", binary<remainder_of>},
      {"Pow", binary<power_of>},
      {"Min", binary<smaller_of>},
      {"Max", binary<larger_of>},
      {"Sum", binary<plus_of>},
      {"Equal", binary<equal>},
      {"Less", binary<less>},
      {"Greater", binary<greater>},
      {"LessOrEqual", binary<less_or_equal>},
      {"GreaterOrEqual", binary<greater_or_equal>},
      {"And", binary<both>},
      {"Or", binary<either>},
      {"Xor", binary<exclusive>},
      {"Not", unary<negated>},
      {"Neg", unary<minus_one>},
      {"Abs", unary<magnitude>},
      {"Sign", unary<sign>},
      {"Floor", unary<rounded_down>},
      {"Ceil", unary<rounded_up>},
      {"Round", unary<rounded>},
      {"Relu", unary<positive_part>},
      {"Sqrt", unary<square_root>},
      {"Reciprocal", unary<reciprocal>},
      {"Cast", unary<converted>},
      {"CastLike", unary<converted>},
      {"Clip", clip},
      {"Where", where},
  };
}

}  // namespace kcharter
