#include "structure/value_readers.h"

namespace kcharter {

ValueReaders::ValueReaders(const Graph& graph) : begin_(graph.values.size() + 1) {
  for (const Node& node : graph.nodes) {
    for_each_read(graph, node, [&](ValueId value) { ++begin_[value.index + 1]; });
  }
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  nodes_.resize(begin_.back());
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for_each_read(graph, graph.nodes[n],
                  [&](ValueId value) { nodes_[next[value.index]++] = NodeId(n); });
  }
}

}  // namespace kcharter
