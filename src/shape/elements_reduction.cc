// Reducing, accumulating and searching the numbers of small tensors.
#include <string>

#include "shape/dim_rules.h"
#include "shape/evaluate_elements.h"

namespace kcharter {
namespace {

using Combine = MaybeElement (*)(const MaybeElement&, const MaybeElement&, const Bounds&);

MaybeElement sum(const MaybeElement& a, const MaybeElement& b, const Bounds&) { return add(a, b); }
MaybeElement product(const MaybeElement& a, const MaybeElement& b, const Bounds&) {
  return multiply(a, b);
}

template <Combine combine>
void reduce(NodeInference& node) {
  const auto sizes = known_sizes(node, 0);
  if (!sizes) return;
  const auto axes = node.ints("axes", 1);
  if (!axes && node.has_input(1)) return;
  std::vector<bool> gone(sizes->size(), false);
  if (axes && !axes->empty()) {
    for (const size_t axis : normalize_axes(*axes, sizes->size())) gone[axis] = true;
  } else if (int_attribute(node.node, "noop_with_empty_axes", 0) == 0) {
    gone.assign(sizes->size(), true);
  }
  Sizes kept;
  for (size_t i = 0; i < sizes->size(); ++i) kept.push_back(gone[i] ? 1 : (*sizes)[i]);
  const Sizes apart = strides(kept);
  Elements result(static_cast<size_t>(count(kept)));
  std::vector<bool> started(result.size(), false);
  const Elements& elements = *node.elements(0);
  for (size_t i = 0; i < elements.size(); ++i) {
    const Sizes at = position(static_cast<int64_t>(i), *sizes);
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) index += gone[d] ? 0 : at[d] * apart[d];
    MaybeElement& into = result[static_cast<size_t>(index)];
    into = started[static_cast<size_t>(index)] ? combine(into, elements[i], node.bounds())
                                               : elements[i];
    started[static_cast<size_t>(index)] = true;
  }
  if (elements.empty()) {
    // The sum of nothing is 0 and its product 1; nothing has no extremes.
    const bool neutral = node.node.op_type == "ReduceSum" || node.node.op_type == "ReduceProd";
    if (!neutral) return;
    result.assign(result.size(), Element{Expr(node.node.op_type == "ReduceProd" ? 1 : 0)});
  }
  node.set_elements(0, std::move(result));
}

void cumulative_sum(NodeInference& node) {
  const auto sizes = known_sizes(node, 0);
  const auto axis_number = constant(node.scalar(1));
  const bool plain =
      int_attribute(node.node, "exclusive", 0) == 0 && int_attribute(node.node, "reverse", 0) == 0;
  if (!sizes || !axis_number || !plain) return;
  const size_t axis = normalize_axis(*axis_number, sizes->size());
  const int64_t apart = strides(*sizes)[axis];
  Elements result = *node.elements(0);
  for (size_t i = 0; i < result.size(); ++i) {
    if (position(static_cast<int64_t>(i), *sizes)[axis] > 0) {
      result[i] = add(result[i - static_cast<size_t>(apart)], result[i]);
    }
  }
  node.set_elements(0, std::move(result));
}

// Places of what is not zero, one column each.
void non_zero(NodeInference& node) {
  const auto sizes = known_sizes(node, 0);
  const auto numbers = node.constants(0);
  if (!sizes || !numbers) return;
  std::vector<Sizes> places;
  for (size_t i = 0; i < numbers->size(); ++i) {
    if ((*numbers)[i] != 0) places.push_back(position(static_cast<int64_t>(i), *sizes));
  }
  Elements result;
  for (size_t axis = 0; axis < sizes->size(); ++axis) {
    for (const Sizes& place : places) result.push_back(Element{Expr(place[axis])});
  }
  node.set_elements(0, std::move(result));
}

}  // namespace

std::vector<ElementRuleEntry> reduction_element_rules() {
  return {
      {"CumSum", cumulative_sum},      {"NonZero", non_zero},
      {"ReduceMax", reduce<larger>},   {"ReduceMin", reduce<smaller>},
      {"ReduceProd", reduce<product>}, {"ReduceSum", reduce<sum>},
  };
}

}  // namespace kcharter
