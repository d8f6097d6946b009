#include "advise/price.h"

#include <algorithm>
#include <map>

#include "kcharter/estimate/sum.h"
#include "kcharter/estimate/time.h"

namespace kcharter {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Values of this size are taken as unknown, so that no sum of them overflows.
constexpr Int kMostBytes = Int{1} << 80;

// A formula with the variable `name` at 1.
Quantity at_one(const Quantity& quantity, const std::string& name) {
  if (!quantity.formula) return quantity;
  return {quantity.formula->substitute({{name, Expr(1)}}), quantity.exactness, quantity.source};
}

Quantity less(const Quantity& a, const Quantity& b) {
  if (!a.formula || !b.formula) return unknown_quantity();
  return {*a.formula - *b.formula, std::max(a.exactness, b.exactness), a.source};
}

Quantity times(const Quantity& quantity, const Quantity& runs) {
  if (!quantity.formula || !runs.formula) return unknown_quantity();
  return {*quantity.formula * *runs.formula, std::max(quantity.exactness, runs.exactness),
          quantity.source};
}

}  // namespace

// What happens to one node, over all sites.
struct Prices::Change {
  uint64_t operands = 0;
  bool launch = false;
  bool work = false;
  std::string single;  // empty, or the variable that is 1
  friend auto operator<=>(const Change&, const Change&) = default;
};

Prices::Prices(const Wiring& wiring, const Bindings& values) : wiring_(wiring), values_(values) {}

const std::vector<OperandTraffic>& Prices::traffic(NodeId of_template) {
  const auto [entry, is_new] = traffic_.try_emplace(of_template.index);
  if (is_new) {
    entry->second = operand_traffic(wiring_.graph, wiring_.estimate.operands, of_template);
  }
  return entry->second;
}

Saving Prices::saving(std::span<const FindingSite* const> sites) {
  try {
    return sum_of(sites);
  } catch (const ArithmeticError&) {
    // Too large to be written down.
    Saving saving;
    saving.launches = unknown_quantity();
    for (Quantity& quantity : saving.metrics.all) quantity = unknown_quantity();
    return saving;
  }
}

Saving Prices::sum_of(std::span<const FindingSite* const> sites) {
  std::map<NodeId, Change> changes;
  std::array<Sum, kMetricCount> sums;
  Sum launches;
  const auto sum = [&](Metric metric) -> Sum& { return sums[static_cast<size_t>(metric)]; };
  for (const FindingSite* site : sites) {
    for (const Edit& edit : site->edits) {
      Change& change = changes[edit.node];
      change.operands |= edit.operands;
      change.launch |= edit.launch;
      change.work |= edit.work;
    }
    if (!site->single.empty()) {
      for (const NodeId node : site->kernel) changes[node].single = site->single;
    }
    if (site->launches != 0) launches.add({Expr(site->launches), Exactness::kExact, Source::kRule});
    for (const Less& part : site->less) sum(part.metric).add(part.amount);
  }
  // Equal changes of one template, counted.
  std::map<std::tuple<NodeId, RegionId, Change>, int64_t> counts;
  for (const auto& [node, change] : changes) {
    ++counts[{wiring_.tree.template_of_node[node.index], wiring_.graph[node].region, change}];
  }
  for (const auto& [key, count] : counts) {
    const auto& [node, region, change] = key;
    const Quantity& runs = wiring_.estimate.region_runs[region.index];
    for (const OperandTraffic& part : traffic(node)) {
      Quantity saved;
      if (Edit::drops(change.operands, part.operand, part.is_output, part.metric)) {
        saved = part.bytes;
      } else if (!change.single.empty()) {
        saved = less(part.bytes, at_one(part.bytes, change.single));
      } else {
        continue;
      }
      sum(part.metric).add(times(saved, runs), count);
    }
    if (change.launch && launch_count(wiring_.model, wiring_.tree, wiring_.estimate, node) > 0) {
      launches.add(runs, count);
    }
    if (!change.work && change.single.empty()) continue;
    // Of all instances together, so that one of them is what each run computes.
    const int64_t runs_of_all = wiring_.tree[wiring_.tree.module_of_node[node.index]].multiplicity;
    for (const Metric metric : {Metric::kFlops, Metric::kElementwiseFlops}) {
      const Quantity& all = wiring_.estimate.nodes[node.index][metric];
      if (!all.formula) {
        sum(metric).add(unknown_quantity());
        continue;
      }
      Quantity saved = change.work ? all : less(all, at_one(all, change.single));
      if (runs_of_all > count) {
        saved.formula = floor_div(*saved.formula * Expr(count), Expr(runs_of_all));
      }
      sum(metric).add(saved);
    }
  }
  Saving saving;
  for (size_t i = 0; i < kMetricCount; ++i) saving.metrics.all[i] = sums[i].total();
  saving.launches = launches.total();
  return saving;
}

std::optional<Int> Prices::bytes_of(ValueId value) {
  const TensorType& type = wiring_.graph[value].type;
  try {
    const std::optional<Expr> bytes = byte_size(type);
    if (!bytes) return std::nullopt;
    const auto [entry, is_new] = evaluated_.try_emplace(*bytes);
    if (is_new) {
      const Int at_values = bytes->evaluate(values_);
      if (at_values >= 0 && at_values < kMostBytes) entry->second = at_values;
    }
    return entry->second;
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

void Prices::make_timeline() {
  has_timeline_ = true;
  lifetimes_ = activation_lifetimes(wiring_.graph, wiring_.estimate.operands);
  step_of_.assign(wiring_.graph.nodes.size(), kNone);
  for (uint32_t step = 0; step < lifetimes_.steps.size(); ++step) {
    step_of_[lifetimes_.steps[step].index] = step;
  }
  lifetime_of_.assign(wiring_.graph.values.size(), kNone);
  std::vector<Int> change(lifetimes_.steps.size() + 1, 0);
  for (uint32_t i = 0; i < lifetimes_.values.size(); ++i) {
    const Lifetime& life = lifetimes_.values[i];
    lifetime_of_[life.memory.index] = i;
    const Int bytes = bytes_of(life.memory).value_or(0);
    if (life.birth >= change.size() || life.death + 1 > change.size()) continue;
    change[life.birth] += bytes;
    if (life.death + 1 < change.size()) change[life.death + 1] -= bytes;
  }
  alive_.assign(lifetimes_.steps.size(), 0);
  Int sum = 0;
  for (size_t step = 0; step < alive_.size(); ++step) {
    sum += change[step];
    alive_[step] = sum;
    peak_ = std::max(peak_, sum);
  }
}

std::optional<Int> Prices::peak_fall(std::span<const FindingSite* const> sites) {
  if (!has_timeline_) make_timeline();
  if (alive_.empty()) return 0;
  std::vector<Int> change(alive_.size() + 1, 0);
  std::map<uint32_t, Int> gone;       // lifetime → bytes of it that are gone
  std::map<uint32_t, uint32_t> kept;  // lifetime → the step it now lives to
  for (const FindingSite* site : sites) {
    for (const ValueId value : site->gone) {
      const uint32_t life = lifetime_of_[wiring_.estimate.operands.memory_of(value).index];
      if (life == kNone) continue;
      const std::optional<Int> bytes = bytes_of(value);
      if (!bytes) return std::nullopt;
      Int less_bytes = *bytes;
      if (!site->single.empty()) {
        Bindings at_one = values_;
        at_one[site->single] = 1;
        less_bytes -= byte_size(wiring_.graph[value].type)->evaluate(at_one);
      }
      Int& known = gone[life];
      known = std::max(known, less_bytes);
    }
    if (site->kernel.size() < 2) continue;
    // What a kernel reads lives until it is done.
    const uint32_t last = step_of_[site->kernel.back().index];
    if (last == kNone) continue;
    for (const NodeId node : site->kernel) {
      for (const ValueId input : wiring_.graph[node].inputs) {
        if (!input) continue;
        const uint32_t life = lifetime_of_[wiring_.estimate.operands.memory_of(input).index];
        if (life == kNone || lifetimes_.values[life].death >= last) continue;
        uint32_t& until = kept.try_emplace(life, last).first->second;
        until = std::max(until, last);
      }
    }
  }
  const auto add = [&](uint32_t from, uint32_t to, Int bytes) {
    if (from >= alive_.size()) return;
    change[from] += bytes;
    change[std::min<size_t>(to + 1, alive_.size())] -= bytes;
  };
  for (const auto& [life, bytes] : gone) {
    add(lifetimes_.values[life].birth, lifetimes_.values[life].death, -bytes);
  }
  for (const auto& [life, until] : kept) {
    if (gone.contains(life)) continue;
    const Int bytes = bytes_of(lifetimes_.values[life].memory).value_or(0);
    add(lifetimes_.values[life].death + 1, until, bytes);
  }
  Int sum = 0, peak = 0;
  for (size_t step = 0; step < alive_.size(); ++step) {
    sum += change[step];
    peak = std::max(peak, alive_[step] + sum);
  }
  return std::max<Int>(0, peak_ - peak);
}

}  // namespace kcharter
