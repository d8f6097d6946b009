// Nodes whose result is there already, or that nobody asks for.
#include <map>

#include "advise/pattern.h"

namespace kcharter {
namespace {

bool is_run(const Wiring& wiring, NodeId node) {
  const Quantity& runs = wiring.estimate.region_runs[wiring.graph[node].region.index];
  return !runs.formula || !runs.formula->is_zero();
}

// One finding a module, so that a layer's bookkeeping is one line.
void add_by_module(const Wiring& wiring, const PatternText& pattern,
                   const std::vector<NodeId>& nodes, Collector& collector) {
  std::map<std::pair<ModuleId, bool>, std::vector<NodeId>> groups;
  for (const NodeId node : nodes) {
    const bool is_free = wiring.estimate.operands.costs_nothing(node);
    const ModuleId module = is_free ? ModuleId(0) : wiring.tree.module_of_node[node.index];
    groups[{module, is_free}].push_back(node);
  }
  for (const auto& [key, group] : groups) {
    const bool is_free = key.second;
    FindingSite site = is_free ? FindingSite{} : remove(wiring, group);
    collector.add(pattern, std::move(site), group,
                  is_free ? "views and shape arithmetic, which cost nothing" : "", true,
                  static_cast<int64_t>(group.size()));
  }
}

// By NodeId and ValueId: whether an output of the graph needs it.
struct Alive {
  std::vector<bool> nodes;
  std::vector<bool> values;
};

Alive alive_of(const Graph& graph) {
  Alive alive{std::vector<bool>(graph.nodes.size(), false),
              std::vector<bool>(graph.values.size(), false)};
  const auto mark = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values) {
      if (value) alive.values[value.index] = true;
    }
  };
  mark(graph.outputs);
  for (const Cache& cache : graph.caches) mark({cache.output});
  // From the back: readers before what they read, an owner before its bodies.
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    bool is_alive = node.outputs.empty();
    for (const ValueId output : node.outputs) is_alive |= output && alive.values[output.index];
    if (!is_alive) continue;
    alive.nodes[i] = true;
    mark(node.inputs);
    for (const RegionId body : node.bodies) mark(graph[body].outputs);
  }
  return alive;
}

}  // namespace

void find_duplicate_nodes(const Wiring& wiring, const PatternText& pattern, Found&,
                          Collector& collector) {
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < wiring.graph.nodes.size(); ++i) {
    const NodeId node{i};
    if (wiring.duplicate_of(node) && !wiring.is_folded(node) && is_run(wiring, node)) {
      nodes.push_back(node);
    }
  }
  add_by_module(wiring, pattern, nodes, collector);
}

void find_dead_nodes(const Wiring& wiring, const PatternText& pattern, Found&,
                     Collector& collector) {
  const Graph& graph = wiring.graph;
  if (graph.outputs.empty()) return;
  const Alive alive = alive_of(graph);
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (!alive.nodes[i] && is_run(wiring, NodeId(i))) nodes.emplace_back(i);
  }
  add_by_module(wiring, pattern, nodes, collector);
  if (wiring.model.format != Format::kOnnx || graph.nodes.empty()) return;
  Int bytes = 0;
  int64_t count = 0;
  for (const Initializer& stored : graph.initializers) {
    if (stored.alias_of || (stored.value && alive.values[stored.value.index])) continue;
    bytes = checked_add(bytes, Int{stored.stored_bytes});
    ++count;
  }
  if (count == 0) return;
  FindingSite site;
  site.less.push_back({Metric::kWeightBytes, {Expr(bytes), Exactness::kExact, Source::kTensor}});
  collector.add(pattern, std::move(site), {NodeId(size_t{0})}, "stored tensors that nothing reads",
                true, count);
}

}  // namespace kcharter
