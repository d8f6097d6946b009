// Weights that a runtime may work on in each step: transposed, cast or dequantized in the graph, or
// with scales wider than what they scale.
#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr int kMostTransforms = 16;

struct Chain {
  std::vector<NodeId> nodes;  // those that move something, in the order they run
  bool dequantizes = false;
};

Quantity bytes_of(const Graph& graph, ValueId value) {
  const std::optional<Expr> bytes = byte_size(graph[value].type);
  if (!bytes) return unknown_quantity();
  return {*bytes, Exactness::kExact, Source::kGraph};
}

// What is between a stored tensor and the operand `value`.
Chain chain_of(const Wiring& wiring, ValueId value) {
  Chain chain;
  for (int steps = 0; steps < kMostTransforms; ++steps) {
    const NodeId producer = wiring.graph[value].producer;
    if (!producer || !wiring.is_folded(producer)) break;
    const Node& node = wiring.graph[producer];
    const Operation op = wiring.operation(producer);
    if (op == Operation::kDequantize) chain.dequantizes = true;
    if (op == Operation::kTranspose || op == Operation::kCast || op == Operation::kDequantize) {
      chain.nodes.insert(chain.nodes.begin(), producer);
    }
    if (node.inputs.empty() || !node.inputs[0]) break;
    value = node.inputs[0];
  }
  return chain;
}

// Running `nodes` each step: every one reads and writes, where the estimate has it folded away.
FindingSite run_each_step(const Wiring& wiring, const std::vector<NodeId>& nodes) {
  if (wiring.is_seen(nodes.front())) return remove(wiring, nodes);
  FindingSite site;
  for (const NodeId id : nodes) {
    const Node& node = wiring.graph[id];
    site.less.push_back({Metric::kWeightReadBytes, bytes_of(wiring.graph, node.inputs[0])});
    site.less.push_back({Metric::kActivationWriteBytes, bytes_of(wiring.graph, node.outputs[0])});
    ++site.launches;
  }
  return site;
}

// Weight operands of products that are made in the graph; `dequantized` or not.
void find_made_weights(const Wiring& wiring, const PatternText& pattern, bool dequantized,
                       Collector& collector) {
  std::vector<bool> is_known(wiring.graph.nodes.size(), false);
  for (const NodeId product : wiring.nodes()) {
    if (!wiring.is_weight_product(product)) continue;
    const ValueId weight = wiring.graph[product].inputs[1];
    const Chain chain = chain_of(wiring, weight);
    if (chain.nodes.empty() || chain.dequantizes != dequantized) continue;
    if (is_known[chain.nodes.back().index]) continue;
    is_known[chain.nodes.back().index] = true;
    FindingSite site = run_each_step(wiring, chain.nodes);
    const bool is_counted = wiring.is_seen(chain.nodes.front());
    if (dequantized && !is_counted) {
      // The product then reads the dequantized copy.
      site.less.push_back({Metric::kActivationReadBytes, bytes_of(wiring.graph, weight)});
    }
    std::vector<NodeId> nodes = chain.nodes;
    nodes.push_back(product);
    collector.add(pattern, std::move(site), std::move(nodes), "", is_counted);
  }
}

}  // namespace

void find_transformed_weights(const Wiring& wiring, const PatternText& pattern, Found&,
                              Collector& collector) {
  find_made_weights(wiring, pattern, false, collector);
}

void find_dequantized_weights(const Wiring& wiring, const PatternText& pattern, Found&,
                              Collector& collector) {
  find_made_weights(wiring, pattern, true, collector);
}

void find_wide_scales(const Wiring& wiring, const PatternText& pattern, Found&,
                      Collector& collector) {
  for (const NodeId id : wiring.nodes()) {
    if (wiring.operation(id) != Operation::kPacked) continue;
    const Node& node = wiring.graph[id];
    if (bits(wiring.graph[node.inputs[0]].type.dtype) != 16) continue;
    for (const ValueId input : node.inputs) {
      if (!input || !wiring.graph[input].initializer) continue;
      const Initializer& scales = wiring.graph[wiring.graph[input].initializer];
      if (scales.part != TensorPart::kScale || scales.dtype != DType::kF32) continue;
      const Quantity half{Expr(scales.stored_bytes / 2), Exactness::kExact, Source::kTensor};
      FindingSite site;
      site.kernel = {id};
      site.less = {{Metric::kWeightReadBytes, half}, {Metric::kWeightBytes, half}};
      collector.add(pattern, std::move(site), {id});
    }
  }
}

}  // namespace kcharter
