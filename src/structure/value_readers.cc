#include "structure/value_readers.h"

namespace kcharter {

ValueReaders::ValueReaders(const Graph& graph)
    : begin_(graph.values.size() + 1), is_alias_(graph.nodes.size()) {
  for (size_t v = 0; v < graph.values.size(); ++v) canonical_.push_back(ValueId(v));
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op_type != "Identity" || node.inputs.size() != 1 || node.outputs.size() != 1) continue;
    if (!node.inputs[0] || !node.outputs[0]) continue;
    ValueId tensor = canonical_[node.inputs[0].index];
    if (!graph[tensor].initializer) continue;
    canonical_[node.outputs[0].index] = tensor;
    is_alias_[n] = true;
  }
  auto for_each_use = [&](auto use) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (is_alias_[n]) continue;
      for_each_read(graph, graph.nodes[n],
                    [&](ValueId value) { use(canonical_[value.index].index, NodeId(n)); });
    }
  };
  for_each_use([&](uint32_t value, NodeId) { ++begin_[value + 1]; });
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  nodes_.resize(begin_.back());
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for_each_use([&](uint32_t value, NodeId node) { nodes_[next[value]++] = node; });
}

}  // namespace kcharter
