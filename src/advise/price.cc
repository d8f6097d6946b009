#include "advise/price.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kcharter/estimate/sum.h"
#include "kcharter/estimate/time.h"

namespace kcharter {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr Int kNotAsked = -1;
constexpr Int kNotKnown = -2;
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

// Of pairs with one key the one with the largest value, in the order of keys.
template <typename Value>
void keep_largest(std::vector<std::pair<uint32_t, Value>>& pairs) {
  std::sort(pairs.begin(), pairs.end(), std::greater<>());
  pairs.erase(std::unique(pairs.begin(), pairs.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; }),
              pairs.end());
  std::reverse(pairs.begin(), pairs.end());
}

Quantity times(const Quantity& quantity, const Quantity& runs) {
  if (!quantity.formula || !runs.formula) return unknown_quantity();
  return {*quantity.formula * *runs.formula, std::max(quantity.exactness, runs.exactness),
          quantity.source};
}

}  // namespace

// What happens to one node, over all sites.
struct Prices::Change {
  NodeId node;
  RegionId region;
  uint64_t operands = 0;
  bool launch = false;
  bool work = false;
  std::string_view single;  // empty, or the variable that is 1
  friend auto operator<=>(const Change&, const Change&) = default;
};

Prices::Prices(const Wiring& wiring, const Bindings& values)
    : wiring_(wiring), values_(values), bytes_(wiring.graph.values.size(), kNotAsked) {}

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

// Of templates, equal ones side by side, one for each node that changes.
std::vector<Prices::Change> Prices::changes_of(std::span<const FindingSite* const> sites) const {
  std::vector<Change> changes;
  for (const FindingSite* site : sites) {
    for (const Edit& edit : site->edits) {
      changes.push_back({edit.node, {}, edit.operands, edit.launch, edit.work, {}});
    }
    if (site->single.empty()) continue;
    for (const NodeId node : site->kernel)
      changes.push_back({node, {}, 0, false, false, site->single});
  }
  std::sort(changes.begin(), changes.end());
  size_t kept = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (kept > 0 && changes[kept - 1].node == changes[i].node) {
      Change& into = changes[kept - 1];
      into.operands |= changes[i].operands;
      into.launch |= changes[i].launch;
      into.work |= changes[i].work;
      if (into.single.empty()) into.single = changes[i].single;
    } else {
      changes[kept++] = changes[i];
    }
  }
  changes.resize(kept);
  for (Change& change : changes) {
    change.region = wiring_.graph[change.node].region;
    change.node = wiring_.tree.template_of_node[change.node.index];
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

Saving Prices::sum_of(std::span<const FindingSite* const> sites) {
  std::array<Sum, kMetricCount> sums;
  Sum launches;
  const auto sum = [&](Metric metric) -> Sum& { return sums[static_cast<size_t>(metric)]; };
  for (const FindingSite* site : sites) {
    if (site->launches != 0) {
      launches.add({Expr(site->launches), Exactness::kExact, Source::kRule});
    }
    for (const Less& part : site->less) sum(part.metric).add(part.amount);
  }
  const std::vector<Change> changes = changes_of(sites);
  for (size_t i = 0; i < changes.size();) {
    const Change& change = changes[i];
    int64_t count = 0;
    for (; i < changes.size() && changes[i] == change; ++i) ++count;
    const Quantity& runs = wiring_.estimate.region_runs[change.region.index];
    const std::string single(change.single);
    for (const OperandTraffic& part : traffic(change.node)) {
      if (Edit::drops(change.operands, part.operand, part.is_output, part.metric)) {
        sum(part.metric).add(times(part.bytes, runs), count);
      } else if (!single.empty()) {
        sum(part.metric).add(times(less(part.bytes, at_one(part.bytes, single)), runs), count);
      }
    }
    if (change.launch &&
        launch_count(wiring_.model, wiring_.tree, wiring_.estimate, change.node) > 0) {
      launches.add(runs, count);
    }
    if (!change.work && single.empty()) continue;
    // Of all instances together, so that one of them is what each run computes.
    const int64_t instances =
        wiring_.tree[wiring_.tree.module_of_node[change.node.index]].multiplicity;
    for (const Metric metric : {Metric::kFlops, Metric::kElementwiseFlops}) {
      const Quantity& all = wiring_.estimate.nodes[change.node.index][metric];
      Quantity saved = change.work ? all : less(all, at_one(all, single));
      if (saved.formula && instances > count) {
        saved.formula = floor_div(*saved.formula * Expr(count), Expr(instances));
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
  Int& known = bytes_[wiring_.tree.template_of_value[value.index].index];
  if (known == kNotAsked) known = bytes_at(value, values_);
  return known == kNotKnown ? std::nullopt : std::optional(known);
}

Int Prices::bytes_at(ValueId value, const Bindings& values) const {
  try {
    const std::optional<Expr> bytes = byte_size(wiring_.graph[value].type);
    const Int number = bytes ? bytes->evaluate(values) : kNotKnown;
    return number < kMostBytes ? number : kNotKnown;
  } catch (const ArithmeticError&) {
    return kNotKnown;
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
  std::vector<std::pair<uint32_t, Int>> gone;       // lifetime, bytes of it that are gone
  std::vector<std::pair<uint32_t, uint32_t>> kept;  // lifetime, the step it now lives to
  for (const FindingSite* site : sites) {
    for (const ValueId value : site->gone) {
      const uint32_t life = lifetime_of_[wiring_.estimate.operands.memory_of(value).index];
      if (life == kNone) continue;
      std::optional<Int> bytes = bytes_of(value);
      if (!bytes) return std::nullopt;
      if (!site->single.empty()) {
        Bindings at_one = values_;
        at_one[site->single] = 1;
        *bytes -= std::max(Int{0}, bytes_at(value, at_one));
      }
      gone.emplace_back(life, *bytes);
    }
    if (site->kernel.size() < 2) continue;
    // What a kernel reads lives until it is done.
    const uint32_t last = step_of_[site->kernel.back().index];
    if (last == kNone) continue;
    for (const NodeId node : site->kernel) {
      for (const ValueId input : wiring_.graph[node].inputs) {
        if (!input) continue;
        const uint32_t life = lifetime_of_[wiring_.estimate.operands.memory_of(input).index];
        if (life != kNone && lifetimes_.values[life].death < last) kept.emplace_back(life, last);
      }
    }
  }
  keep_largest(gone);
  keep_largest(kept);
  const auto add = [&](uint32_t from, uint32_t to, Int bytes) {
    if (from >= alive_.size()) return;
    change[from] += bytes;
    change[std::min<size_t>(to + 1, alive_.size())] -= bytes;
  };
  for (const auto& [life, bytes] : gone) {
    add(lifetimes_.values[life].birth, lifetimes_.values[life].death, -bytes);
  }
  for (const auto& [life, until] : kept) {
    const auto at = std::lower_bound(gone.begin(), gone.end(), std::pair{life, Int{0}});
    if (at != gone.end() && at->first == life) continue;
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
