#include "advise/expressions.h"

#include <functional>

#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

size_t combined(size_t hash, size_t value) { return (hash ^ value) * 1099511628211ULL; }

size_t hash_of(const AttributeValue& value) {
  size_t hash = value.index();
  if (const auto* number = std::get_if<int64_t>(&value))
    hash = combined(hash, std::hash<int64_t>{}(*number));
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    for (const int64_t number : *list) hash = combined(hash, std::hash<int64_t>{}(number));
  }
  return hash;
}

size_t hash_of(const Literal& literal) {
  size_t hash = static_cast<size_t>(literal.dtype);
  for (const int64_t dim : literal.dims) hash = combined(hash, static_cast<size_t>(dim));
  for (const int64_t number : literal.integers) hash = combined(hash, static_cast<size_t>(number));
  for (const double number : literal.floats) hash = combined(hash, std::hash<double>{}(number));
  return hash;
}

// An attribute that is kept by name only says nothing of its value.
bool is_readable(const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    if (std::holds_alternative<std::monostate>(attribute.value)) return false;
  }
  return true;
}

}  // namespace

Expressions::Expressions(const Graph& graph, const ModuleTree& tree)
    : graph_(graph),
      tree_(tree),
      may_repeat_(graph.nodes.size(), -1),
      stands_for_(graph.values.size()) {
  for (size_t i = 0; i < graph.values.size(); ++i) stands_for_[i] = ValueId(i);
  known_.reserve(graph.nodes.size());
  std::unordered_multimap<size_t, InitializerId> literals;
  for (uint32_t i = 0; i < graph.initializers.size(); ++i) {
    const Initializer& one = graph.initializers[i];
    if (!one.value) continue;
    if (one.alias_of && graph[one.alias_of].value) {
      stands_for_[one.value.index] = stands_for_[graph[one.alias_of].value.index];
      continue;
    }
    // Learned numbers are of one value by chance only.
    if (one.literal == nullptr || one.literal->floats.size() > 1) continue;
    const size_t hash = hash_of(*one.literal);
    const auto [begin, end] = literals.equal_range(hash);
    bool known = false;
    for (auto at = begin; at != end && !known; ++at) {
      const Initializer& other = graph[at->second];
      known = *other.literal == *one.literal;
      if (known) stands_for_[one.value.index] = other.value;
    }
    if (!known) literals.emplace(hash, InitializerId(i));
  }
}

bool Expressions::is_same(const Node& a, const Node& b) const {
  if (a.op_type != b.op_type || a.domain != b.domain || a.region != b.region ||
      a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size() ||
      a.attributes != b.attributes) {
    return false;
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (static_cast<bool>(a.inputs[i]) != static_cast<bool>(b.inputs[i])) return false;
    if (a.inputs[i] && stands_for(a.inputs[i]) != stands_for(b.inputs[i])) return false;
  }
  return true;
}

// The same for all nodes of a template.
bool Expressions::may_repeat(NodeId id) {
  signed char& known = may_repeat_[tree_.template_of_node[id.index].index];
  if (known < 0) {
    const Node& node = graph_[id];
    const OperatorInfo* info = find_operator(node.domain, node.op_type);
    known = info != nullptr && !info->is_random && node.bodies.empty() && !node.inputs.empty() &&
            is_readable(node);
  }
  return known > 0;
}

NodeId Expressions::first_like(NodeId id) {
  const Node& node = graph_[id];
  if (!may_repeat(id)) return id;
  size_t hash = node.op_type.size() * 256 + static_cast<unsigned char>(node.op_type.front());
  hash = combined(hash, node.region.index);
  for (const ValueId input : node.inputs) {
    hash = combined(hash, input ? stands_for(input).index : ValueId::kNone);
  }
  for (const Attribute& attribute : node.attributes) {
    hash = combined(hash, hash_of(attribute.value));
  }
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Node& first = graph_[at->second];
    if (!is_same(first, node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] && first.outputs[i])
        stands_for_[node.outputs[i].index] = first.outputs[i];
    }
    return at->second;
  }
  known_.emplace(hash, id);
  return id;
}

}  // namespace kcharter
