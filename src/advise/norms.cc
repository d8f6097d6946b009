// Norms: written out operator by operator, apart from the residual before them or from the
// modulation after them.
#include <algorithm>

#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr int kMostSteps = 12;

// A norm being gathered from the mean of squares that it divides by.
class Decomposed {
 public:
  Decomposed(const Wiring& wiring, NodeId mean) : wiring_(wiring), mean_(mean) {}

  // Empty: it is no norm.
  std::vector<NodeId> gather() {
    const Node& mean = wiring_.graph[mean_];
    if (mean.inputs.empty() || !mean.inputs[0]) return {};
    const NodeId square = wiring_.maker(mean.inputs[0]);
    if (!square || !is_square(square)) return {};
    nodes_ = {square, mean_};
    add_above(wiring_.graph[square].inputs[0]);
    add_below(mean.outputs[0]);
    if (!has_root_) return {};
    return nodes_;
  }

 private:
  bool is_square(NodeId id) const {
    const Node& node = wiring_.graph[id];
    if (node.inputs.size() != 2 || !node.inputs[0] || !node.inputs[1]) return false;
    if (wiring_.operation(id) == Operation::kPow) return wiring_.is_constant(node.inputs[1]);
    return wiring_.operation(id) == Operation::kMul &&
           wiring_.root(node.inputs[0]) == wiring_.root(node.inputs[1]);
  }

  // x − mean(x), and the cast of x to a wider type.
  void add_above(ValueId squared) {
    inputs_.push_back(wiring_.root(squared));
    NodeId maker = wiring_.maker(squared);
    if (maker && wiring_.operation(maker) == Operation::kSub) {
      const Node& difference = wiring_.graph[maker];
      const NodeId mean = wiring_.maker(difference.inputs[1]);
      if (!mean || wiring_.operation(mean) != Operation::kReduceMean) return;
      nodes_.push_back(maker);
      nodes_.push_back(mean);
      inputs_.push_back(wiring_.root(difference.inputs[0]));
      maker = wiring_.maker(difference.inputs[0]);
    }
    if (maker && wiring_.operation(maker) == Operation::kCast) {
      nodes_.push_back(maker);
      inputs_.push_back(wiring_.root(wiring_.graph[maker].inputs[0]));
    }
  }

  bool is_known(ValueId value) const {
    return wiring_.is_constant(value) ||
           std::find(inputs_.begin(), inputs_.end(), wiring_.root(value)) != inputs_.end();
  }

  // + ε, √, ÷, · γ, + β, with casts among them: each the only reader of the one before.
  void add_below(ValueId value) {
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const NodeId reader = wiring_.only_reader(value);
      if (!reader || !is_elementwise(wiring_.operation(reader))) return;
      const Node& node = wiring_.graph[reader];
      for (const ValueId input : node.inputs) {
        if (input && wiring_.root(input) != wiring_.root(value) && !is_known(input)) return;
      }
      const Operation op = wiring_.operation(reader);
      has_root_ = has_root_ || op == Operation::kSqrt || op == Operation::kPow;
      nodes_.push_back(reader);
      value = node.outputs[0];
    }
  }

  const Wiring& wiring_;
  NodeId mean_;
  std::vector<NodeId> nodes_;
  std::vector<ValueId> inputs_;  // x and what is made of it before the mean
  bool has_root_ = false;
};

bool is_norm(const Wiring& wiring, const Found& found, NodeId node) {
  return wiring.operation(node) == Operation::kNorm || found.is_norm[node.index];
}

bool is_smaller(const Wiring& wiring, ValueId a, ValueId b) {
  const auto& first = wiring.graph[a].type.shape;
  const auto& second = wiring.graph[b].type.shape;
  return first && second && !(*first == *second);
}

// The reader of `value`, an `op` with an activation that is broadcast: one scale for all tokens.
NodeId modulated(const Wiring& wiring, ValueId value, Operation op) {
  const NodeId reader = wiring.only_reader(value);
  if (!reader || wiring.operation(reader) != op) return NodeId();
  for (const ValueId input : wiring.graph[reader].inputs) {
    if (!input || wiring.root(input) == wiring.root(value)) continue;
    if (wiring.is_constant(input) || !is_smaller(wiring, input, value)) return NodeId();
  }
  return reader;
}

}  // namespace

void find_decomposed_norms(const Wiring& wiring, const PatternText& pattern, Found& found,
                           Collector& collector) {
  for (const NodeId mean : wiring.nodes()) {
    if (wiring.operation(mean) != Operation::kReduceMean) continue;
    std::vector<NodeId> nodes = Decomposed(wiring, mean).gather();
    if (nodes.empty()) continue;
    for (const NodeId node : nodes) {
      found.is_taken[node.index] = true;
      found.is_norm[node.index] = true;
    }
    const std::string detail = std::to_string(nodes.size()) + " operators for one norm";
    FindingSite site = fuse(wiring, nodes);
    collector.add(pattern, std::move(site), std::move(nodes), detail);
  }
}

void find_residual_norms(const Wiring& wiring, const PatternText& pattern, Found& found,
                         Collector& collector) {
  for (const NodeId add : wiring.nodes()) {
    if (wiring.operation(add) != Operation::kAdd || found.is_taken[add.index]) continue;
    const Node& node = wiring.graph[add];
    if (node.inputs.size() != 2 || !node.inputs[0] || !node.inputs[1] ||
        wiring.is_constant(node.inputs[0]) || wiring.is_constant(node.inputs[1]) ||
        is_smaller(wiring, node.inputs[0], node.inputs[1])) {
      continue;
    }
    const std::span<const NodeId> readers = wiring.readers(node.outputs[0]);
    const auto norm = std::find_if(readers.begin(), readers.end(),
                                   [&](NodeId id) { return is_norm(wiring, found, id); });
    if (norm == readers.end()) continue;
    FindingSite site = fuse(wiring, {add, *norm});
    // A norm of several operators has a finding of its own.
    collector.add(pattern, std::move(site), {add, *norm});
  }
}

void find_modulations(const Wiring& wiring, const PatternText& pattern, Found& found,
                      Collector& collector) {
  for (const NodeId norm : wiring.nodes()) {
    if (!is_norm(wiring, found, norm)) continue;
    const NodeId scale = modulated(wiring, wiring.graph[norm].outputs[0], Operation::kMul);
    if (!scale) continue;
    const NodeId shift = modulated(wiring, wiring.graph[scale].outputs[0], Operation::kAdd);
    if (!shift) continue;
    found.is_taken[scale.index] = found.is_taken[shift.index] = true;
    collector.add(pattern, fuse(wiring, {norm, scale, shift}), {norm, scale, shift});
  }
}

}  // namespace kcharter
