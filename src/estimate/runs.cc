#include "estimate/runs.h"

#include <algorithm>

#include "estimate/node_cost.h"

namespace kcharter {
namespace {

double weight_of(const Metrics& cost, const Bindings& defaults) {
  double sum = 0;
  for (Metric metric : {Metric::kFlops, Metric::kElementwiseFlops, Metric::kWeightReadBytes,
                        Metric::kActivationReadBytes, Metric::kActivationWriteBytes}) {
    const Quantity& quantity = cost[metric];
    if (!quantity.formula) continue;
    try {
      sum += static_cast<double>(quantity.formula->evaluate(defaults));
    } catch (const ArithmeticError&) {
      continue;  // a variable without a default weighs nothing
    }
  }
  return sum;
}

// Cost of each region at the defaults, inner regions included, to compare branches by.
std::vector<double> region_weights(const Graph& graph, const ModuleTree& tree,
                                   const NodeMetrics& costs, const Bindings& defaults) {
  std::vector<double> weights(graph.regions.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.region && node.region.index != 0) {
      weights[node.region.index] += weight_of(costs[tree.template_of_node[i].index], defaults);
    }
    // A body's nodes stand before its owner, so its weight is complete here.
    double inner = 0;
    for (RegionId body : node.bodies) inner = std::max(inner, weights[body.index]);
    if (node.region) weights[node.region.index] += inner;
  }
  return weights;
}

// Of branches that may run, the heaviest; the first of equals.
RegionId chosen_branch(const Graph& graph, const Node& owner, const std::vector<double>& weights) {
  RegionId chosen;
  for (RegionId body : owner.bodies) {
    if (graph[body].runs == RegionRuns::kNo) continue;
    if (!chosen || weights[body.index] > weights[chosen.index]) chosen = body;
  }
  return chosen;
}

Quantity trips(const Region& region) {
  if (!region.trip_count) return unknown_quantity();
  return {*region.trip_count,
          region.trip_count_is_bound ? Exactness::kEstimated : Exactness::kExact, Source::kGraph};
}

bool undecided(const Graph& graph, const Node& node) {
  return std::any_of(node.bodies.begin(), node.bodies.end(),
                     [&](RegionId body) { return graph[body].runs == RegionRuns::kUnknown; });
}

}  // namespace

Quantity repeated(const Quantity& a, const Quantity& runs) {
  if (a.formula && a.formula->is_zero()) return a;
  if (runs.formula && runs.formula->is_zero()) return {};
  if (!a.formula || !runs.formula) return unknown_quantity();
  try {
    return {*a.formula * *runs.formula, std::max(a.exactness, runs.exactness), a.source};
  } catch (const ArithmeticError&) {
    return unknown_quantity();
  }
}

std::vector<Quantity> region_runs(const Graph& graph, const ModuleTree& tree,
                                  const NodeMetrics& costs, const Bindings& defaults,
                                  Diagnostics& diagnostics) {
  std::vector<Quantity> runs(graph.regions.size(),
                             Quantity{Expr(1), Exactness::kExact, Source::kGraph});
  if (graph.regions.size() < 2) return runs;
  std::vector<double> weights = region_weights(graph, tree, costs, defaults);
  // Owners stand after their bodies' nodes, so from the back an outer region comes first.
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    bool is_if = node.op_type == "If";
    RegionId chosen = is_if ? chosen_branch(graph, node, weights) : RegionId();
    if (is_if && undecided(graph, node)) {
      diagnostics.add(Severity::kNote, "undecided-branch", describe(node),
                      "the condition is not known: the branch that costs more is counted");
    }
    for (RegionId body : node.bodies) {
      const Region& region = graph[body];
      bool runs_at_all = is_if ? body == chosen : region.runs != RegionRuns::kNo;
      Quantity here = runs_at_all ? trips(region) : Quantity{};
      runs[body.index] = repeated(here, node.region ? runs[node.region.index] : runs[0]);
    }
  }
  return runs;
}

}  // namespace kcharter
