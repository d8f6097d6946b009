// Moving the numbers of small tensors: the same elements in another order, fewer, or more.
#include <string>

#include "shape/dim_rules.h"
#include "shape/evaluate_elements.h"
#include "shape/slice_axis.h"

namespace kcharter {
namespace {

std::optional<Sizes> output_sizes(const NodeInference& node, size_t output = 0) {
  if (!node.has_output(output)) return std::nullopt;
  return small_sizes(node.graph[node.node.outputs[output]].type);
}

// Same elements, same order.
void carried(NodeInference& node) {
  const Elements* elements = node.elements(0);
  const auto sizes = output_sizes(node);
  if (elements == nullptr || !sizes || count(*sizes) != static_cast<int64_t>(elements->size())) {
    return;
  }
  node.set_elements(0, *elements);
}

// result[at] = input[source(at)] for every place of the output.
template <typename Source>
void move_elements(NodeInference& node, size_t output, const Sizes& sizes, Source source) {
  const Elements& elements = *node.elements(0);
  Elements result(static_cast<size_t>(count(sizes)));
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t index = source(position(static_cast<int64_t>(i), sizes));
    if (index >= 0 && index < static_cast<int64_t>(elements.size())) {
      result[i] = elements[static_cast<size_t>(index)];
    }
  }
  node.set_elements(output, std::move(result));
}

int64_t index_of(const Sizes& at, const Sizes& steps) {
  int64_t index = 0;
  for (size_t i = 0; i < at.size(); ++i) index += at[i] * steps[i];
  return index;
}

void transpose(NodeInference& node) {
  const auto from = known_sizes(node, 0);
  const auto to = output_sizes(node);
  if (!from || !to) return;
  std::vector<size_t> order;
  if (const auto* given = ints_attribute(node.node, "perm"); given && !given->empty()) {
    order = normalize_axes(*given, from->size());
  } else {
    for (size_t i = from->size(); i-- > 0;) order.push_back(i);
  }
  const Sizes steps = strides(*from);
  move_elements(node, 0, *to, [&](const Sizes& at) {
    int64_t index = 0;
    for (size_t i = 0; i < at.size(); ++i) index += at[i] * steps[order[i]];
    return index;
  });
}

// Expand and Tile: every axis repeats.
void repeated(NodeInference& node) {
  const auto from = known_sizes(node, 0);
  const auto to = output_sizes(node);
  if (!from || !to || from->size() > to->size() || count(*from) == 0) return;
  const size_t missing = to->size() - from->size();
  const Sizes steps = strides(*from);
  move_elements(node, 0, *to, [&](const Sizes& at) {
    int64_t index = 0;
    for (size_t i = 0; i < from->size(); ++i) {
      index += (at[missing + i] % (*from)[i]) * steps[i];
    }
    return index;
  });
}

void gather(NodeInference& node) {
  const auto from = known_sizes(node, 0);
  const auto to = output_sizes(node);
  const auto index_sizes = known_sizes(node, 1);
  if (!from || !to || !index_sizes) return;
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), from->size());
  const Sizes steps = strides(*from);
  const Sizes index_steps = strides(*index_sizes);
  const Elements& indices = *node.elements(1);
  move_elements(node, 0, *to, [&](const Sizes& at) -> int64_t {
    const Sizes inner(at.begin() + static_cast<std::ptrdiff_t>(axis),
                      at.begin() + static_cast<std::ptrdiff_t>(axis + index_sizes->size()));
    auto chosen = constant(indices[static_cast<size_t>(index_of(inner, index_steps))]);
    if (!chosen) return -1;
    if (*chosen < 0) *chosen += (*from)[axis];
    if (*chosen < 0 || *chosen >= (*from)[axis]) return -1;
    int64_t index = *chosen * steps[axis];
    for (size_t i = 0; i < axis; ++i) index += at[i] * steps[i];
    for (size_t i = axis + 1; i < from->size(); ++i) {
      index += at[i + index_sizes->size() - 1] * steps[i];
    }
    return index;
  });
}

std::optional<Elements> operand(const NodeInference& node, std::string_view attribute,
                                size_t input) {
  if (const auto* values = ints_attribute(node.node, attribute)) {
    Elements result;
    for (const int64_t value : *values) result.push_back(Element{Expr(value)});
    return result;
  }
  return node.elements(input) == nullptr ? std::nullopt : std::optional(*node.elements(input));
}

void slice(NodeInference& node) {
  const auto from = known_sizes(node, 0);
  const auto to = output_sizes(node);
  const auto starts = operand(node, "starts", 1);
  const auto ends = operand(node, "ends", 2);
  if (!from || !to || !starts || !ends) return;
  std::vector<int64_t> axes;
  if (const auto given = node.ints("axes", 3)) {
    axes = *given;
  } else {
    for (size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  const auto steps = node.constants(4);
  if (node.has_input(4) && !steps) return;
  Sizes first(from->size(), 0);
  Sizes every(from->size(), 1);
  const std::vector<size_t> at_axes = normalize_axes(axes, from->size());
  for (size_t i = 0; i < at_axes.size() && i < starts->size() && i < ends->size(); ++i) {
    const size_t axis = at_axes[i];
    every[axis] = steps && i < steps->size() ? (*steps)[i] : 1;
    const SlicedAxis sliced = slice_axis(Expr((*from)[axis]), (*starts)[i], (*ends)[i], every[axis],
                                         false, node.bounds());
    const auto start = constant(sliced.start);
    if (!start) return;
    first[axis] = *start;
  }
  const Sizes apart = strides(*from);
  move_elements(node, 0, *to, [&](const Sizes& at) {
    int64_t index = 0;
    for (size_t i = 0; i < at.size(); ++i) index += (first[i] + at[i] * every[i]) * apart[i];
    return index;
  });
}

void split(NodeInference& node) {
  const auto from = known_sizes(node, 0);
  if (!from) return;
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), from->size());
  const Sizes apart = strides(*from);
  int64_t offset = 0;
  for (size_t output = 0; output < node.output_count(); ++output) {
    const auto to = output_sizes(node, output);
    if (!to || to->size() != from->size()) return;
    move_elements(node, output, *to,
                  [&](const Sizes& at) { return index_of(at, apart) + offset * apart[axis]; });
    offset += (*to)[axis];
  }
}

void concat(NodeInference& node) {
  const auto to = output_sizes(node);
  if (!to || to->empty()) return;
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), to->size());
  const Sizes apart = strides(*to);
  Elements result(static_cast<size_t>(count(*to)));
  int64_t offset = 0;
  for (size_t input = 0; input < node.input_count(); ++input) {
    const auto sizes = small_sizes(node.input(input));
    if (!sizes || sizes->size() != to->size()) return;
    if (const Elements* part = node.elements(input);
        part != nullptr && static_cast<int64_t>(part->size()) == count(*sizes)) {
      for (size_t i = 0; i < part->size(); ++i) {
        const int64_t index = index_of(position(static_cast<int64_t>(i), *sizes), apart);
        result[static_cast<size_t>(index + offset * apart[axis])] = (*part)[i];
      }
    }
    offset += (*sizes)[axis];
  }
  node.set_elements(0, std::move(result));
}

void constant_of_shape(NodeInference& node) {
  const auto to = output_sizes(node);
  if (!to) return;
  MaybeElement fill = Element{Expr(0)};
  if (const Attribute* value = find_attribute(node.node, "value")) {
    const auto* literal = std::get_if<Literal>(&value->value);
    if (literal == nullptr) return;
    if (!literal->integers.empty())
      fill = Element{Expr(literal->integers.front())};
    else if (!literal->floats.empty())
      fill = element(literal->floats.front());
  }
  node.set_elements(0, Elements(static_cast<size_t>(count(*to)), fill));
}

void range(NodeInference& node) {
  const auto to = output_sizes(node);
  if (!to) return;
  Elements result;
  MaybeElement next = node.scalar(0);
  for (int64_t i = 0; i < count(*to); ++i) {
    result.push_back(next);
    next = add(next, node.scalar(2));
  }
  node.set_elements(0, std::move(result));
}

// data, indices, updates of one shape; indices along one axis.
void scatter_elements(NodeInference& node) {
  const auto sizes = known_sizes(node, 0);
  const auto update_sizes = known_sizes(node, 1);
  const Elements* updates = node.elements(2);
  const auto indices = node.constants(1);
  const std::string reduction = string_attribute(node.node, "reduction", "none");
  if (!sizes || !update_sizes || !indices || updates == nullptr || reduction != "none" ||
      updates->size() != indices->size() || update_sizes->size() != sizes->size()) {
    return;
  }
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), sizes->size());
  const Sizes apart = strides(*sizes);
  Elements result = *node.elements(0);
  for (size_t i = 0; i < updates->size(); ++i) {
    Sizes at = position(static_cast<int64_t>(i), *update_sizes);
    const int64_t chosen = (*indices)[i];
    at[axis] = chosen < 0 ? chosen + (*sizes)[axis] : chosen;
    if (at[axis] < 0 || at[axis] >= (*sizes)[axis]) return;
    const int64_t index = index_of(at, apart);
    if (index < 0 || index >= static_cast<int64_t>(result.size())) return;
    result[static_cast<size_t>(index)] = (*updates)[i];
  }
  node.set_elements(0, std::move(result));
}

// indices [..., depth] name where slices of `updates` go.
void scatter_nd(NodeInference& node) {
  const auto sizes = known_sizes(node, 0);
  const auto index_sizes = known_sizes(node, 1);
  const auto indices = node.constants(1);
  const Elements* updates = node.elements(2);
  if (!sizes || !index_sizes || index_sizes->empty() || !indices || updates == nullptr ||
      string_attribute(node.node, "reduction", "none") != "none") {
    return;
  }
  const size_t depth = static_cast<size_t>(index_sizes->back());
  if (depth == 0 || depth > sizes->size()) return;
  const Sizes apart = strides(*sizes);
  const int64_t length = depth < sizes->size() ? apart[depth - 1] : 1;
  Elements result = *node.elements(0);
  for (size_t row = 0; row * depth < indices->size(); ++row) {
    int64_t base = 0;
    for (size_t d = 0; d < depth; ++d) {
      const int64_t chosen = (*indices)[row * depth + d];
      const int64_t at = chosen < 0 ? chosen + (*sizes)[d] : chosen;
      if (at < 0 || at >= (*sizes)[d]) return;
      base += at * apart[d];
    }
    for (int64_t i = 0; i < length; ++i) {
      const size_t source = row * static_cast<size_t>(length) + static_cast<size_t>(i);
      if (base < 0 || base + i >= static_cast<int64_t>(result.size()) ||
          source >= updates->size()) {
        return;
      }
      result[static_cast<size_t>(base + i)] = (*updates)[source];
    }
  }
  node.set_elements(0, std::move(result));
}

}  // namespace

std::vector<ElementRuleEntry> layout_element_rules() {
  return {
      {"Concat", concat},
      {"ConcatTraining", concat},
      {"ConstantOfShape", constant_of_shape},
      {"Dropout", carried},
      {"Expand", repeated},
      {"Flatten", carried},
      {"Gather", gather},
      {"Identity", carried},
      {"Range", range},
      {"Reshape", carried},
      {"ScatterElements", scatter_elements},
      {"ScatterND", scatter_nd},
      {"Slice", slice},
      {"Split", split},
      {"Squeeze", carried},
      {"Tile", repeated},
      {"Transpose", transpose},
      {"Unsqueeze", carried},
  };
}

}  // namespace kcharter
