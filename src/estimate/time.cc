#include "kcharter/estimate/time.h"

#include <algorithm>

#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

constexpr Metric kMovedBytes[] = {Metric::kWeightReadBytes, Metric::kKvReadBytes,
                                  Metric::kKvWriteBytes, Metric::kActivationReadBytes,
                                  Metric::kActivationWriteBytes};
constexpr Metric kCompulsoryBytes[] = {Metric::kWeightReadBytes, Metric::kKvReadBytes,
                                       Metric::kKvWriteBytes};

// The value of a quantity; 0, and *complete = false, where it is unknown.
double value_of(const Quantity& quantity, const Bindings& values, bool* complete) {
  if (quantity.exactness == Exactness::kUnknown || quantity.exactness == Exactness::kLowerBound) {
    *complete = false;
  }
  return quantity.formula ? static_cast<double>(quantity.formula->evaluate(values)) : 0;
}

BoundBy bound_by(const Time& time) {
  if (time.total == 0) return BoundBy::kNothing;
  if (time.launch >= std::max(time.spent_on_compute, time.spent_on_memory)) return BoundBy::kLaunch;
  return time.spent_on_compute > time.spent_on_memory ? BoundBy::kCompute : BoundBy::kMemory;
}

Time node_time(const Metrics& metrics, int64_t launches, DType dtype, const Node& node,
               const Bindings& values, const Device& device) {
  OperatorWork work = {.launches = launches, .dtype = dtype, .kind = kind_of_work(node, dtype)};
  bool complete = true;
  work.flops = value_of(metrics[Metric::kFlops], values, &complete);
  for (const Metric metric : kMovedBytes) work.bytes += value_of(metrics[metric], values, &complete);
  Time time = time_of(work, device);
  time.complete = complete;
  return time;
}

void add(Time& sum, const Time& part) {
  sum.launch += part.launch;
  sum.compute += part.compute;
  sum.memory += part.memory;
  sum.total += part.total;
  sum.spent_on_compute += part.spent_on_compute;
  sum.spent_on_memory += part.spent_on_memory;
  sum.complete = sum.complete && part.complete;
}

// Bytes of the graph's inputs and outputs that are not cache.
double boundary_bytes(const Graph& graph, const Bindings& values, bool* complete) {
  double bytes = 0;
  for (const auto* side : {&graph.inputs, &graph.outputs}) {
    for (const ValueId id : *side) {
      if (graph[id].role == ValueRole::kCache) continue;
      const auto size = byte_size(graph[id].type);
      if (size) bytes += static_cast<double>(size->evaluate(values));
      if (!size) *complete = false;
    }
  }
  return bytes;
}

// The bound takes the chosen experts once, however many tokens there are: routing may be skewed, so
// the expected number of distinct experts is no bound.
double strict_value(const Quantity& quantity, const Bindings& values) {
  return quantity.formula
             ? static_cast<double>(with_fewest_experts(*quantity.formula).evaluate(values))
             : 0;
}

}  // namespace

std::string_view name(BoundBy by) {
  switch (by) {
    case BoundBy::kNothing:
      return "nothing";
    case BoundBy::kCompute:
      return "compute";
    case BoundBy::kMemory:
      return "memory";
    case BoundBy::kLaunch:
      return "launch";
  }
  return "nothing";
}

std::string_view kind_of_work(const Node& node, DType dtype) {
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  if (info && info->is_attention) return "attention";
  if (bits(dtype) != 8) return "matmul";
  return is_float(dtype) ? "matmul_fp8" : "matmul_int8";
}

Time time_of(const OperatorWork& work, const Device& device) {
  Time time;
  const Efficiency& efficiency = efficiency_of(device, work.kind);
  time.launch = static_cast<double>(work.launches) * efficiency.launch_seconds;
  if (const auto peak = peak_operations_per_second(device, work.dtype); peak && work.flops > 0) {
    time.compute = work.flops / (efficiency.compute * *peak);
  }
  time.memory = work.bytes / (efficiency.memory * device.bandwidth_bytes_per_second);
  time.total = time.launch + std::max(time.compute, time.memory);
  (time.compute > time.memory ? time.spent_on_compute : time.spent_on_memory) =
      std::max(time.compute, time.memory);
  time.by = bound_by(time);
  return time;
}

int64_t launch_count(const Model& model, const ModuleTree& tree, const Estimate& estimate,
                     NodeId id) {
  const Node& node = model.graph[id];
  if (estimate.folded_at_load[id.index]) return 0;
  if (model.graph[node.region].runs == RegionRuns::kNo) return 0;
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  if (info && (info->is_view || info->is_shape_arithmetic)) return 0;
  const Metrics& metrics = estimate.nodes[id.index];
  const bool moves =
      std::any_of(std::begin(kMovedBytes), std::end(kMovedBytes), [&](Metric metric) {
        return !metrics[metric].formula || !metrics[metric].formula->is_zero();
      });
  if (!moves) return 0;
  for (const Variant& variant : tree.variants) {
    if (!variant.stands && variant.node == id) return variant.count;
  }
  return tree[tree.module_of_node[id.index]].multiplicity;
}

ModelTime time_on(const Model& model, const ModuleTree& tree, const Estimate& estimate,
                  const Bindings& values, const Device& device) {
  ModelTime result;
  double expected_compute = 0, expected_memory = 0;
  const Graph& graph = model.graph;
  result.nodes.resize(graph.nodes.size());
  result.modules.resize(tree.modules.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId id{i};
    if (tree.template_of_node[i] != id) continue;
    const Node& node = graph[id];
    const DType dtype = estimate.compute_dtypes[i];
    const Time time = node_time(estimate.nodes[i], launch_count(model, tree, estimate, id), dtype,
                                node, values, device);
    result.nodes[i] = time;
    add(result.modules[tree.module_of_node[i].index], time);
    if (const auto peak = peak_operations_per_second(device, dtype)) {
      result.bound_compute += strict_value(estimate.nodes[i][Metric::kFlops], values) / *peak;
      expected_compute +=
          value_of(estimate.nodes[i][Metric::kFlops], values, &result.complete) / *peak;
    }
    for (const Metric metric : kCompulsoryBytes) {
      result.bound_memory += strict_value(estimate.nodes[i][metric], values);
      expected_memory += value_of(estimate.nodes[i][metric], values, &result.complete);
    }
  }
  for (size_t i = tree.modules.size(); i-- > 1;) {
    add(result.modules[tree.modules[i].parent.index], result.modules[i]);
  }
  for (Time& time : result.modules) time.by = bound_by(time);
  const double boundary = boundary_bytes(graph, values, &result.complete);
  const double bandwidth = device.bandwidth_bytes_per_second;
  result.bound_memory = (result.bound_memory + boundary) / bandwidth;
  result.bound = std::max(result.bound_compute, result.bound_memory);
  result.bound_of_expected_experts =
      std::max(expected_compute, (expected_memory + boundary) / bandwidth);
  result.estimate = result.modules.front();
  result.complete = result.complete && result.estimate.complete;
  result.low = std::max(result.bound, result.estimate.total * device.band.low);
  result.high = std::max(result.low, result.estimate.total * device.band.high);
  return result;
}

}  // namespace kcharter
