// evaluate_elements: the numbers of small tensors, as formulas, through the operators that
// exporters compute shapes with (Shape → Gather → Mul → Concat → Reshape).
//
// A rule runs after the types of the node's outputs are known and sets the elements of those it
// can. An element that cannot be known is left unknown on its own; the others go on.
#pragma once

#include <optional>
#include <vector>

#include "shape/inference.h"

namespace kcharter {

// Does nothing where the outputs are too large to be carried or no rule is known.
void evaluate_elements(NodeInference& node);

struct ElementRuleEntry {
  std::string_view op_type;  // of ONNX's own domain, or the same word of com.microsoft
  ShapeRule rule;
};
std::vector<ElementRuleEntry> arithmetic_element_rules();
std::vector<ElementRuleEntry> layout_element_rules();
std::vector<ElementRuleEntry> reduction_element_rules();

using Sizes = std::vector<int64_t>;
// The sizes of a tensor of numbers few enough to be carried; nullopt otherwise.
std::optional<Sizes> small_sizes(const TensorType& type);
// Of an input whose elements are known (in part), with as many of them as its sizes say.
std::optional<Sizes> known_sizes(const NodeInference& node, size_t input);
int64_t count(const Sizes& sizes);
// How far apart neighbours of each axis stand.
Sizes strides(const Sizes& sizes);
// Where the element at `index` of `sizes` stands along each axis.
Sizes position(int64_t index, const Sizes& sizes);

}  // namespace kcharter
