#include "advise/wiring.h"

#include "advise/expressions.h"

namespace kcharter {

Wiring::Wiring(const Model& described, const ModuleTree& folded, const Estimate& estimated)
    : model(described), graph(described.graph), tree(folded), estimate(estimated) {
  if (estimate.as_exported) own_ = classify_operands(graph, false);
  weights_ = estimate.as_exported ? &own_ : &estimate.operands;
  operations_.reserve(graph.nodes.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const uint32_t of = tree.template_of_node[i].index;
    operations_.push_back(of < i ? operations_[of] : operation_of(graph.nodes[i]));
  }
  see_nodes();
  find_roots();
  list_readers();
}

void Wiring::see_nodes() {
  seen_.assign(graph.nodes.size(), false);
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Quantity& runs = estimate.region_runs[graph.nodes[i].region.index];
    const bool is_run = !runs.formula || !runs.formula->is_zero();
    seen_[i] = is_run && !estimate.operands.costs_nothing(NodeId(i));
  }
}

void Wiring::find_roots() {
  const Operands& operands = estimate.operands;
  Expressions expressions(graph, tree);
  duplicate_of_.assign(graph.nodes.size(), NodeId());
  root_.resize(graph.values.size());
  for (size_t i = 0; i < root_.size(); ++i) root_[i] = expressions.stands_for(ValueId(i));
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const NodeId first = expressions.first_like(NodeId(i));
    if (first != NodeId(i)) duplicate_of_[i] = first;
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId output = node.outputs[k];
      if (!output) continue;
      const ValueId memory = operands.memory_of(output);
      const ValueId like = expressions.stands_for(output);
      if (like != output) {
        root_[output.index] = root_[like.index];
      } else if (memory != output) {
        // A view of what its first input is; the branch that an If takes.
        root_[output.index] =
            operands.is_view[i] && k == 0 ? root_[node.inputs[0].index] : root_[memory.index];
      }
    }
    if (duplicate_of_[i]) seen_[i] = false;
    if (seen_[i]) nodes_.emplace_back(i);
  }
}

void Wiring::list_readers() {
  escapes_.assign(graph.values.size(), false);
  const auto mark = [&](ValueId value) {
    if (value) escapes_[root(value).index] = true;
  };
  for (const ValueId output : graph.outputs) mark(output);
  for (const Region& region : graph.regions) {
    for (const ValueId output : region.outputs) mark(output);
  }
  for (const Cache& cache : graph.caches) mark(cache.output);
  first_reader_.assign(graph.values.size() + 1, 0);
  const auto for_each_read = [&](const auto& act) {
    for (const NodeId node : nodes_) {
      for (const ValueId input : graph[node].inputs) {
        if (input) act(root(input).index, node);
      }
    }
  };
  for_each_read([&](uint32_t value, NodeId) { ++first_reader_[value + 1]; });
  for (size_t i = 1; i < first_reader_.size(); ++i) first_reader_[i] += first_reader_[i - 1];
  end_of_readers_.assign(first_reader_.begin(), first_reader_.end() - 1);
  readers_.resize(first_reader_.back());
  for_each_read([&](uint32_t value, NodeId node) {
    uint32_t& end = end_of_readers_[value];
    // A node that reads it twice is one reader.
    if (end == first_reader_[value] || readers_[end - 1] != node) readers_[end++] = node;
  });
}

NodeId Wiring::maker(ValueId value) const {
  const NodeId producer = graph[root(value)].producer;
  return producer && is_seen(producer) ? producer : NodeId();
}

std::span<const NodeId> Wiring::readers(ValueId value) const {
  const uint32_t index = root(value).index;
  return std::span(readers_).subspan(first_reader_[index],
                                     end_of_readers_[index] - first_reader_[index]);
}

NodeId Wiring::only_reader(ValueId value) const {
  const std::span<const NodeId> all = readers(value);
  return all.size() == 1 && !escapes(value) ? all.front() : NodeId();
}

ValueId Wiring::only_activation(const Node& node) const {
  ValueId found;
  for (const ValueId input : node.inputs) {
    if (!input || is_constant(input)) continue;
    if (found) return ValueId();
    found = input;
  }
  return found;
}

bool Wiring::is_weight_product(NodeId id) const {
  const Node& node = graph[id];
  return is_product(operation(id)) && node.inputs.size() > 1 && node.inputs[0] && node.inputs[1] &&
         !is_constant(node.inputs[0]) && is_constant(node.inputs[1]);
}

bool Wiring::is_activation_product(NodeId id) const {
  const Node& node = graph[id];
  const bool multiplies =
      operation(id) == Operation::kMatMul || operation(id) == Operation::kEinsum;
  return multiplies && node.inputs.size() > 1 && node.inputs[0] && node.inputs[1] &&
         !is_constant(node.inputs[0]) && !is_constant(node.inputs[1]);
}

}  // namespace kcharter
