#include "estimate/dense_experts.h"

#include <span>
#include <string>
#include <unordered_set>

#include "estimate/node_cost.h"

namespace kcharter {
namespace {

// Nodes from a router to the result that its choice is multiplied with, and within one expert.
constexpr int kMaxGateNodes = 8;
constexpr size_t kMaxExpertNodes = 256;

// The readers of each value, in one array.
class Readers {
 public:
  explicit Readers(const Graph& graph) : begin_(graph.values.size() + 1, 0) {
    for_each(graph, [&](uint32_t value, uint32_t) { ++begin_[value + 1]; });
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    nodes_.resize(begin_.back());
    std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
    for_each(graph, [&](uint32_t value, uint32_t node) { nodes_[next[value]++] = NodeId(node); });
  }

  std::span<const NodeId> of(ValueId value) const {
    return {nodes_.data() + begin_[value.index], nodes_.data() + begin_[value.index + 1]};
  }

 private:
  template <typename Visit>
  static void for_each(const Graph& graph, Visit visit) {
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      for (ValueId input : graph.nodes[i].inputs) {
        if (input) visit(input.index, i);
      }
    }
  }

  std::vector<uint32_t> begin_;
  std::vector<NodeId> nodes_;
};

std::optional<int64_t> single_integer(const Graph& graph, ValueId value) {
  if (!value) return std::nullopt;
  const Value& known = graph[value];
  if (known.initializer && graph[known.initializer].literal) {
    const Literal& literal = *graph[known.initializer].literal;
    if (literal.integers.size() == 1) return literal.integers[0];
  }
  if (known.elements && known.elements->size() == 1) {
    std::optional<Int> number = known.elements->front().constant();
    if (number && *number >= INT32_MIN && *number <= INT32_MAX)
      return static_cast<int64_t>(*number);
  }
  return std::nullopt;
}

class Finder {
 public:
  Finder(const Graph& graph, const Operands& operands)
      : graph_(graph), operands_(operands), readers_(graph) {}

  // The initializers of the experts that `router`'s choice is compared for, one by one.
  std::unordered_set<uint32_t> weights_behind(NodeId router) {
    std::unordered_set<uint32_t> weights;
    find_routers_inputs(router);
    ValueId indices = graph_[router].outputs[1];
    for (NodeId reader : readers_.of(indices)) {
      if (graph_[reader].op_type != "Equal") continue;
      ValueId expert = result_chosen_by(reader, router);
      if (expert) collect_weights(expert, weights);
    }
    return weights;
  }

 private:
  // Values that the router computes from: an expert ends where it reads one of them.
  void find_routers_inputs(NodeId router) {
    shared_.clear();
    std::vector<ValueId> pending{graph_[router].inputs[0]};
    for (int count = 0; !pending.empty() && count < kMaxGateNodes; ++count) {
      ValueId value = pending.back();
      pending.pop_back();
      if (!value || operands_.constant[value.index]) continue;
      shared_.insert(value.index);
      if (!graph_[value].producer) continue;
      const Node& node = graph_[graph_[value].producer];
      pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
    }
  }

  bool comes_from(ValueId value, NodeId router) const {
    std::vector<ValueId> pending{value};
    for (int count = 0; !pending.empty() && count < kMaxGateNodes; ++count) {
      ValueId current = pending.back();
      pending.pop_back();
      if (!current || !graph_[current].producer) continue;
      if (graph_[current].producer == router) return true;
      const Node& node = graph_[graph_[current].producer];
      pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
    }
    return false;
  }

  // From the comparison on, the first factor that the router did not compute.
  ValueId result_chosen_by(NodeId comparison, NodeId router) const {
    ValueId gate = graph_[comparison].outputs[0];
    for (int hop = 0; hop < kMaxGateNodes && gate; ++hop) {
      auto readers = readers_.of(gate);
      if (readers.size() != 1) return {};
      const Node& node = graph_[readers[0]];
      if (node.op_type == "Mul" && node.inputs.size() == 2) {
        ValueId other = node.inputs[0] == gate ? node.inputs[1] : node.inputs[0];
        if (other && !operands_.constant[other.index] && !comes_from(other, router)) return other;
      }
      gate = node.outputs.empty() ? ValueId() : node.outputs[0];
    }
    return {};
  }

  void collect_weights(ValueId result, std::unordered_set<uint32_t>& weights) const {
    std::vector<ValueId> pending{result};
    std::unordered_set<uint32_t> seen;
    std::vector<InitializerId> found;
    while (!pending.empty()) {
      ValueId value = pending.back();
      pending.pop_back();
      if (!value || shared_.contains(value.index) || !seen.insert(value.index).second) continue;
      if (seen.size() > kMaxExpertNodes) return;  // not an expert of its own
      if (operands_.constant[value.index]) {
        for (InitializerId stored : source_of_constant(graph_, value).stored)
          found.push_back(stored);
        continue;
      }
      if (!graph_[value].producer) return;
      const Node& node = graph_[graph_[value].producer];
      pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
    }
    for (InitializerId stored : found) weights.insert(stored.index);
  }

  const Graph& graph_;
  const Operands& operands_;
  Readers readers_;
  std::unordered_set<uint32_t> shared_;
};

bool may_route(const Node& node) {
  return node.op_type == "TopK" && node.inputs.size() >= 2 && node.inputs[0] &&
         node.outputs.size() >= 2 && node.outputs[1];
}

}  // namespace

void find_dense_experts(const Graph& graph, const Operands& operands,
                        std::vector<Work::Share>& shares, Diagnostics& diagnostics) {
  std::optional<Finder> finder;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!may_route(node)) continue;
    std::optional<int64_t> chosen = single_integer(graph, node.inputs[1]);
    const auto& scores = graph[node.inputs[0]].type.shape;
    if (!chosen || !scores || scores->empty() || !scores->back()) continue;
    Int experts = scores->back()->constant().value_or(0);
    if (*chosen < 1 || experts <= *chosen || experts > INT32_MAX) continue;
    if (!finder) finder.emplace(graph, operands);
    std::unordered_set<uint32_t> weights = finder->weights_behind(NodeId(i));
    if (weights.empty()) continue;
    for (uint32_t weight : weights) shares[weight] = {*chosen, static_cast<int64_t>(experts)};
    diagnostics.add(Severity::kWarning, "dense-expert-dispatch", describe(node),
                    "the router chooses " + std::to_string(*chosen) + " of " + to_string(experts) +
                        " experts, but the graph computes all of them for every token: flops and "
                        "bytes are those of the graph, active_parameters those of the choice");
  }
}

}  // namespace kcharter
