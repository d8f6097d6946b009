#include "kcharter/estimate/estimate.h"

#include <algorithm>
#include <utility>

#include "estimate/activation_peak.h"
#include "kcharter/estimate/caches.h"
#include "estimate/node_cost.h"
#include "estimate/parallel/estimate_parallel.h"
#include "estimate/runs.h"
#include "estimate/weights.h"
#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/sum.h"
#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

constexpr Metric kWorkMetrics[] = {Metric::kFlops,
                                   Metric::kElementwiseFlops,
                                   Metric::kWeightReadBytes,
                                   Metric::kKvReadBytes,
                                   Metric::kKvWriteBytes,
                                   Metric::kActivationReadBytes,
                                   Metric::kActivationWriteBytes};
constexpr Metric kSummed[] = {Metric::kWeightBytes,
                              Metric::kKvCacheBytes,
                              Metric::kStateBytes,
                              Metric::kCacheCopyBytes,
                              Metric::kFlops,
                              Metric::kElementwiseFlops,
                              Metric::kWeightReadBytes,
                              Metric::kKvReadBytes,
                              Metric::kKvWriteBytes,
                              Metric::kActivationReadBytes,
                              Metric::kActivationWriteBytes};

using Sums = std::array<Sum, kMetricCount>;

Sum& at(Sums& sums, Metric metric) { return sums[static_cast<size_t>(metric)]; }

// What one run of each template costs.
void add_costs_of_one_run(const Graph& graph, const ModuleTree& tree, const Operands& operands,
                          Estimate& estimate) {
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (tree.template_of_node[i] == NodeId(i)) {
      estimate.nodes[i] = node_cost(graph, operands, NodeId(i), estimate.diagnostics);
    }
  }
}

// How often the nodes that a template stands for run in one step, all together. Those that run
// another operator in its place (ModuleTree::variants) are not among them.
std::vector<Quantity> runs_of_templates(const Graph& graph, const ModuleTree& tree,
                                        const std::vector<Quantity>& region_runs) {
  std::vector<int64_t> once(graph.nodes.size(), 0);
  std::vector<Quantity> runs(graph.nodes.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    NodeId of = tree.template_of_node[i];
    RegionId region = graph.nodes[i].region;
    if (!region || region.index == 0)
      ++once[of.index];
    else
      runs[of.index] = runs[of.index] + region_runs[region.index];
  }
  for (const Variant& variant : tree.variants) {
    if (variant.stands) once[variant.stands.index] -= variant.count;
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    if (once[i] > 0) runs[i] = runs[i] + Quantity{Expr(once[i]), Exactness::kExact, Source::kGraph};
  }
  return runs;
}

// Turns the cost of one run into that of all runs.
void add_nodes(const Model& model, const ModuleTree& tree, const Operands& operands,
               const std::vector<Quantity>& runs, std::vector<Sums>& own, Estimate& estimate) {
  for (uint32_t i = 0; i < model.graph.nodes.size(); ++i) {
    if (tree.template_of_node[i] != NodeId(i)) continue;
    for (Metric metric : kWorkMetrics) {
      Quantity& total = estimate.nodes[i][metric];
      total = repeated(total, runs[i]);
    }
  }
  for (const Variant& variant : tree.variants) {
    if (!variant.stands) continue;  // counted as what it is
    Metrics cost = node_cost(model.graph, operands, variant.node, estimate.diagnostics);
    Quantity count{Expr(variant.count), Exactness::kExact, Source::kGraph};
    for (Metric metric : kWorkMetrics) {
      Quantity& total = estimate.nodes[variant.stands.index][metric];
      total = total + repeated(cost[metric], count);
    }
  }
  for (uint32_t i = 0; i < model.graph.nodes.size(); ++i) {
    if (tree.template_of_node[i] != NodeId(i)) continue;
    Sums& sums = own[tree.module_of_node[i].index];
    for (Metric metric : kWorkMetrics) at(sums, metric).add(estimate.nodes[i][metric]);
  }
}

void add_weights(const Model& model, const ModuleTree& tree, std::vector<Sums>& own) {
  Source source = model.format == Format::kConfig ? Source::kConfig : Source::kTensor;
  const auto& initializers = model.graph.initializers;
  for (uint32_t i = 0; i < initializers.size(); ++i) {
    Int bytes = resident_bytes(initializers[i]);
    InitializerId of = tree.template_of_initializer[i];
    Sums& sums = own[tree.module_of_initializer[of.index].index];
    at(sums, Metric::kWeightBytes).add({Expr(bytes), Exactness::kExact, source});
  }
}

void add_caches(const Model& model, const ModuleTree& tree, bool kv_blocks,
                std::vector<Sums>& own) {
  std::vector<ModuleId> modules = modules_of_caches(model.graph, tree);
  for (uint32_t i = 0; i < model.graph.caches.size(); ++i) {
    const Cache& cache = model.graph.caches[i];
    Sums& sums = own[modules[tree.template_of_cache[i]].index];
    Metric resident = cache.kind == CacheKind::kState ? Metric::kStateBytes : Metric::kKvCacheBytes;
    const Source declared = model.format == Format::kOnnx ? Source::kGraph : Source::kConfig;
    const Source source = cache.by_rule ? Source::kRule : declared;
    at(sums, resident).add(cache_quantity(allocated_elements(cache), cache, kv_blocks, source));
    at(sums, Metric::kCacheCopyBytes)
        .add(copied_bytes(model.graph, cache, kv_blocks));
  }
}

// Parents stand before their children.
void roll_up(const ModuleTree& tree, std::vector<Sums>& sums, Estimate& estimate) {
  for (size_t i = tree.modules.size(); i-- > 0;) {
    for (Metric metric : kSummed) {
      estimate.modules[i][metric] = at(sums[i], metric).total();
      if (i > 0) at(sums[tree.modules[i].parent.index], metric).add(at(sums[i], metric));
    }
  }
}

// Without a graph only what is stored is known.
void forget_work(Metrics& metrics) {
  for (size_t i = 0; i < kMetricCount; ++i) {
    if (static_cast<Metric>(i) != Metric::kWeightBytes) metrics.all[i] = unknown_quantity();
  }
}

void forget_work(Estimate& estimate) {
  for (Metrics& metrics : estimate.modules) forget_work(metrics);
  forget_work(estimate.parallel.device);
}

Quantity total_of(const Metrics& summary) {
  Sum total;
  for (Metric metric : {Metric::kWeightBytes, Metric::kKvCacheBytes, Metric::kStateBytes,
                        Metric::kActivationPeakBytes, Metric::kCacheCopyBytes}) {
    total.add(summary[metric]);
  }
  return total.total();
}

void report_unknown_operators(const Model& model, Estimate& estimate) {
  for (uint32_t i = 0; i < model.graph.nodes.size(); ++i) {
    const Node& node = model.graph.nodes[i];
    if (find_operator(node.domain, node.op_type) != nullptr || !node.bodies.empty()) continue;
    std::string op = (node.domain.empty() ? "" : node.domain + ".") + node.op_type;
    estimate.diagnostics.add(Severity::kWarning, "unknown-operator", describe(node),
                             "no cost rule for " + op + ": its work is left out of the totals");
  }
}

}  // namespace

Estimate estimate(const Model& model, const ModuleTree& tree, const Bindings& defaults,
                  const EstimateOptions& options) {
  const Graph& graph = model.graph;
  Estimate estimate;
  estimate.as_exported = options.as_exported;
  estimate.nodes.resize(graph.nodes.size());
  estimate.modules.resize(tree.modules.size());
  Operands operands = classify_operands(graph, options.as_exported);
  operands.kv_blocks = options.kv_blocks;
  estimate.folded_at_load = operands.folded;
  for (const Node& node : graph.nodes) {
    estimate.compute_dtypes.push_back(compute_dtype(graph, node));
  }
  add_costs_of_one_run(graph, tree, operands, estimate);
  estimate.region_runs = region_runs(graph, tree, estimate.nodes, defaults, estimate.diagnostics);
  const std::vector<Quantity> runs = runs_of_templates(graph, tree, estimate.region_runs);
  std::vector<Sums> sums(tree.modules.size());
  add_nodes(model, tree, operands, runs, sums, estimate);
  add_weights(model, tree, sums);
  add_caches(model, tree, options.kv_blocks, sums);
  roll_up(tree, sums, estimate);
  find_activation_peak(model, tree, operands, defaults, options, estimate);
  estimate.parallel = estimate_parallel(model, tree, operands, runs, defaults, options, estimate);
  if (!model.graph_known) forget_work(estimate);
  estimate.summary = estimate.modules.at(0);
  estimate.total_bytes = total_of(estimate.summary);
  estimate.parallel.total_bytes = total_of(estimate.parallel.device);
  add_up_weights(model, operands, estimate);
  report_unknown_operators(model, estimate);
  estimate.operands = std::move(operands);
  return estimate;
}

}  // namespace kcharter
