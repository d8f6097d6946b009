#include "kcharter/advise/saved_time.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "kcharter/estimate/time.h"

namespace kcharter {
namespace {

double value_of(const Quantity& quantity, const Bindings& values) {
  if (!quantity.formula) return 0;
  try {
    return static_cast<double>(quantity.formula->evaluate(values));
  } catch (const ArithmeticError&) {
    return 0;
  }
}

bool is_flops(Metric metric) { return metric == Metric::kFlops; }
bool is_moved(Metric metric) { return metric >= Metric::kWeightReadBytes; }

// Sets of nodes that kernels join.
class Joined {
 public:
  NodeId first(NodeId node) {
    while (true) {
      const auto at = parent_.find(node);
      if (at == parent_.end()) return node;
      node = at->second;
    }
  }
  void join(NodeId a, NodeId b) {
    a = first(a);
    b = first(b);
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::map<NodeId, NodeId> parent_;
};

}  // namespace

// Nodes that run as one, or one node; seconds at the device's peaks, of one run.
struct TimePrices::Kernel {
  double compute = 0;
  double memory = 0;
  double launches = 0;
  double runs = 1;
  std::string_view kind;
  double most_compute = -1;  // of the node that `kind` is of
};

TimePrices::TimePrices(const Model& model, const ModuleTree& tree, const Estimate& estimate,
                       const Bindings& values, const Device& device)
    : model_(model), tree_(tree), estimate_(estimate), values_(values), device_(device) {
  numbers_.resize(model.graph.nodes.size());
  for (const Quantity& runs : estimate.region_runs) region_runs_.push_back(value_of(runs, values));
}

double TimePrices::peak(DType dtype) const {
  return peak_operations_per_second(device_, dtype).value_or(0);
}

TimePrices::Numbers TimePrices::numbers_of(NodeId node, const Bindings& values) const {
  Numbers numbers;
  numbers.is_known = true;
  numbers.launches = launch_count(model_, tree_, estimate_, node) > 0;
  const double instances =
      static_cast<double>(tree_[tree_.module_of_node[node.index]].multiplicity);
  const double flops = value_of(estimate_.nodes[node.index][Metric::kFlops], values) / instances;
  const double per_second = peak(estimate_.compute_dtypes[node.index]);
  if (per_second > 0) numbers.compute = flops / per_second;
  numbers.traffic = operand_traffic(model_.graph, estimate_.operands, node);
  for (const OperandTraffic& part : numbers.traffic) {
    numbers.memory.push_back(value_of(part.bytes, values) / device_.bandwidth_bytes_per_second);
  }
  return numbers;
}

const TimePrices::Numbers& TimePrices::numbers(NodeId node) {
  Numbers& known = numbers_[tree_.template_of_node[node.index].index];
  if (!known.is_known) known = numbers_of(tree_.template_of_node[node.index], values_);
  return known;
}

double TimePrices::seconds(const Kernel& kernel) const {
  const Efficiency& efficiency = efficiency_of(device_, kernel.kind);
  return kernel.runs *
         (kernel.launches * efficiency.launch_seconds +
          std::max(kernel.compute / efficiency.compute, kernel.memory / efficiency.memory));
}

void TimePrices::add(Kernel& kernel, NodeId node, const Numbers& numbers) const {
  const Node& described = model_.graph[node];
  kernel.runs = region_runs_[described.region.index];
  if (numbers.compute > kernel.most_compute) {
    kernel.most_compute = numbers.compute;
    kernel.kind =
        kind_of_work(described, estimate_.compute_dtypes[tree_.template_of_node[node.index].index]);
  }
}

SavedTime TimePrices::of(std::span<const FindingSite* const> sites) {
  struct Change {
    uint64_t operands = 0;
    bool launch = false;
    bool work = false;
    const FindingSite* site = nullptr;  // the last that says how it computes
  };
  std::map<NodeId, Change> changes;
  Joined joined;
  SavedTime saved;
  for (const FindingSite* site : sites) {
    for (const Edit& edit : site->edits) {
      Change& change = changes[edit.node];
      change.operands |= edit.operands;
      change.launch |= edit.launch;
      change.work |= edit.work;
    }
    const bool matters =
        !site->single.empty() || site->as_attention || site->computes_in != DType::kUnknown;
    for (const NodeId node : site->kernel) {
      Change& change = changes[node];
      if (matters) change.site = site;
      joined.join(site->kernel.front(), node);
    }
  }
  std::map<NodeId, Kernel> kernels;
  for (const auto& [node, change] : changes) {
    const Numbers& before = numbers(node);
    Kernel alone;
    add(alone, node, before);
    alone.compute = before.compute;
    alone.memory = std::accumulate(before.memory.begin(), before.memory.end(), 0.0);
    alone.launches = before.launches ? 1 : 0;
    saved.estimate += seconds(alone);
    if (change.work) {
      saved.bound += alone.runs * (alone.compute + alone.memory);
      continue;
    }
    Numbers single;
    const FindingSite* site = change.site;
    if (site != nullptr && !site->single.empty()) {
      Bindings at_one = values_;
      at_one[site->single] = 1;
      single = numbers_of(tree_.template_of_node[node.index], at_one);
    }
    const Numbers& after = single.is_known ? single : before;
    Kernel& kernel = kernels[joined.first(node)];
    add(kernel, node, after);
    double compute = after.compute;
    if (site != nullptr && site->computes_in != DType::kUnknown && peak(site->computes_in) > 0) {
      compute *= peak(estimate_.compute_dtypes[tree_.template_of_node[node.index].index]) /
                 peak(site->computes_in);
    }
    if (site != nullptr && site->as_attention) {
      kernel.kind = "attention";
      kernel.most_compute = 1e300;
    }
    double memory = 0;
    for (size_t i = 0; i < after.traffic.size(); ++i) {
      const OperandTraffic& part = after.traffic[i];
      if (!Edit::drops(change.operands, part.operand, part.is_output, part.metric)) {
        memory += after.memory[i];
      }
    }
    kernel.compute += compute;
    kernel.memory += memory;
    if (before.launches && !change.launch) kernel.launches += 1;
    saved.bound += alone.runs * (alone.compute - compute + alone.memory - memory);
  }
  for (const FindingSite* site : sites) {
    Kernel rest;
    rest.kind = "matmul";
    rest.launches = static_cast<double>(site->launches);
    const DType dtype =
        site->kernel.empty()
            ? DType::kUnknown
            : estimate_.compute_dtypes[tree_.template_of_node[site->kernel.front().index].index];
    for (const Less& part : site->less) {
      const double amount = value_of(part.amount, values_);
      if (is_flops(part.metric) && peak(dtype) > 0) rest.compute += amount / peak(dtype);
      if (is_moved(part.metric)) rest.memory += amount / device_.bandwidth_bytes_per_second;
    }
    saved.bound += rest.compute + rest.memory;
    if (site->kernel.empty()) {
      saved.estimate += seconds(rest);
    } else {
      Kernel& kernel = kernels[joined.first(site->kernel.front())];
      const double runs = kernel.runs > 0 ? kernel.runs : 1;
      kernel.compute = std::max(0.0, kernel.compute - rest.compute / runs);
      kernel.memory = std::max(0.0, kernel.memory - rest.memory / runs);
    }
  }
  for (const auto& [node, kernel] : kernels) saved.estimate -= seconds(kernel);
  saved.estimate = std::max(0.0, saved.estimate);
  return saved;
}

}  // namespace kcharter
