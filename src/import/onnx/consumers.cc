#include "import/onnx/consumers.h"

namespace kcharter {

Consumers::Consumers(const Graph& graph) : begin_(graph.values.size() + 1, 0) {
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) {
      if (input) begin_[input.index + 1] += 1;
    }
  }
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  uses_.resize(begin_.back());
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::vector<ValueId>& inputs = graph.nodes[i].inputs;
    for (uint32_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k]) uses_[next[inputs[k].index]++] = {NodeId(i), k};
    }
  }
}

}  // namespace kcharter
