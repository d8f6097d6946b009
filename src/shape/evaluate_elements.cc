#include "shape/evaluate_elements.h"

#include <string_view>
#include <unordered_map>

#include "kcharter/model/domains.h"

namespace kcharter {
namespace {

std::unordered_map<std::string_view, ShapeRule> build_table() {
  std::unordered_map<std::string_view, ShapeRule> table;
  for (const auto& family :
       {arithmetic_element_rules(), layout_element_rules(), reduction_element_rules()}) {
    for (const ElementRuleEntry& entry : family) table.emplace(entry.op_type, entry.rule);
  }
  return table;
}

bool is_small(const NodeInference& node, size_t output) {
  return node.has_output(output) &&
         small_sizes(node.graph[node.node.outputs[output]].type).has_value();
}

}  // namespace

std::optional<Sizes> small_sizes(const TensorType& type) {
  if (!type.shape || type.kind != TypeKind::kTensor) return std::nullopt;
  Sizes sizes;
  int64_t total = 1;
  for (const Dim& dim : *type.shape) {
    const auto size = constant(dim);
    if (!size || *size < 0 || *size > static_cast<int64_t>(kMaxElements)) return std::nullopt;
    total *= *size;
    if (total > static_cast<int64_t>(kMaxElements)) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<Sizes> known_sizes(const NodeInference& node, size_t input) {
  const Elements* elements = node.elements(input);
  if (elements == nullptr) return std::nullopt;
  auto sizes = small_sizes(node.input(input));
  if (!sizes || count(*sizes) != static_cast<int64_t>(elements->size())) return std::nullopt;
  return sizes;
}

int64_t count(const Sizes& sizes) {
  int64_t total = 1;
  for (const int64_t size : sizes) total *= size;
  return total;
}

Sizes strides(const Sizes& sizes) {
  Sizes result(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) result[i - 1] = result[i] * sizes[i];
  return result;
}

Sizes position(int64_t index, const Sizes& sizes) {
  Sizes result(sizes.size(), 0);
  for (size_t i = sizes.size(); i-- > 0;) {
    result[i] = index % sizes[i];
    index /= sizes[i];
  }
  return result;
}

void evaluate_elements(NodeInference& node) {
  static const auto table = build_table();
  const std::string& domain = node.node.domain;
  const bool known_words = domain.empty() || domain == "ai.onnx" || domain == kMicrosoft;
  if (!known_words || !is_small(node, 0)) return;
  const auto found = table.find(node.node.op_type);
  if (found != table.end()) found->second(node);
}

}  // namespace kcharter
