#include "estimate/activation_peak.h"

#include <algorithm>
#include <map>

#include "kcharter/estimate/lifetimes.h"
#include "estimate/live_sums.h"
#include "estimate/pack_lifetimes.h"
#include "estimate/scratch.h"

namespace kcharter {
namespace {

using LiveSumSet = std::vector<LiveSumId>;

}  // namespace

Bindings lower_bounds_of(const Model& model) {
  Bindings bounds{
      {std::string(kBatchSize), 1}, {std::string(kCurrentLength), 1}, {std::string(kMaxLength), 1}};
  for (const Variable& variable : model.variables) bounds[variable.name] = variable.min;
  bounds[std::string(kPrefillChunkLength)] = 1;
  return bounds;
}

namespace {

// Turns sets of live sums into quantities, each distinct set once.
class Peaks {
 public:
  Peaks(LiveSums& sums, const Bindings& lower_bounds, Diagnostics& diagnostics)
      : sums_(sums), lower_bounds_(lower_bounds), diagnostics_(diagnostics) {}

  const Quantity& of(const LiveSumSet& set) {
    auto found = known_.find(set);
    if (found == known_.end()) found = known_.emplace(set, make(set)).first;
    return found->second;
  }

 private:
  Quantity make(const LiveSumSet& set) {
    if (set.empty()) return {};
    bool incomplete =
        std::any_of(set.begin(), set.end(), [&](LiveSumId id) { return sums_.is_lower_bound(id); });
    try {
      std::vector<Expr> formulas;
      for (LiveSumId id : set) formulas.push_back(sums_.formula(id));
      if (formulas.size() <= kMaxCandidates) formulas = undominated(std::move(formulas));
      if (formulas.size() > kMaxCandidates) {
        formulas.resize(kMaxCandidates);
        incomplete = true;
        diagnostics_.add(Severity::kNote, "many-live-sums", "the activation peak",
                         "more live sums than a formula can hold compete to be the largest; the "
                         "largest at the default variables are in it");
      }
      Expr peak = max(formulas);
      if (incomplete && peak.is_zero()) return unknown_quantity();
      return {peak, incomplete ? Exactness::kLowerBound : Exactness::kExact, Source::kGraph};
    } catch (const ArithmeticError&) {
      return unknown_quantity();
    }
  }

  // What coefficients do not show: sums with min, max and quotients in them.
  std::vector<Expr> undominated(std::vector<Expr> formulas) const {
    std::vector<Expr> kept;
    for (const Expr& formula : formulas) {
      bool dominated = std::any_of(kept.begin(), kept.end(), [&](const Expr& other) {
        return provably_at_least(other, formula, lower_bounds_);
      });
      if (dominated) continue;
      std::erase_if(kept, [&](const Expr& other) {
        return provably_at_least(formula, other, lower_bounds_);
      });
      kept.push_back(formula);
    }
    return kept;
  }

  LiveSums& sums_;
  const Bindings& lower_bounds_;
  Diagnostics& diagnostics_;
  std::map<LiveSumSet, Quantity> known_;
};

uint32_t step_of_peak(const LiveSums& sums) {
  uint32_t best = 0;
  for (uint32_t step = 1; step < sums.at_step().size(); ++step) {
    if (sums.value_at_defaults(sums.at_step()[step]) >
        sums.value_at_defaults(sums.at_step()[best])) {
      best = step;
    }
  }
  return best;
}

// Values in chunks are not placed: their sizes are not those of the graph.
std::optional<Int> packed_with_scratch(const Graph& graph, const Lifetimes& lifetimes,
                                       const LiveSums::ScratchOf& scratch_of,
                                       const Bindings& defaults, const EstimateOptions& options) {
  if (options.prefill_in_chunks) return std::nullopt;
  const std::optional<Int> packed = packed_bytes(graph, lifetimes, defaults);
  if (!packed || !(options.scores_written || options.weights_dequantized)) return packed;
  Int most = 0;
  for (const NodeId node : lifetimes.steps) {
    try {
      const std::optional<Expr> scratch = scratch_of(node);
      if (!scratch) return std::nullopt;
      most = std::max(most, scratch->evaluate(defaults));
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }
  return *packed + most;
}

NodeId node_at(const Lifetimes& lifetimes, uint32_t step) {
  return step < lifetimes.steps.size() ? lifetimes.steps[step] : NodeId();
}

Int value_or_zero(const Quantity& quantity, const Bindings& defaults) {
  try {
    return quantity.formula ? quantity.formula->evaluate(defaults) : 0;
  } catch (const ArithmeticError&) {
    return 0;
  }
}

std::optional<Expr> bytes_in_step(const Graph& graph, ValueId value,
                                  const EstimateOptions& options) {
  const std::optional<Expr> bytes = byte_size(graph[value].type);
  return bytes && options.prefill_in_chunks ? in_chunks(*bytes, options) : bytes;
}

Quantity bytes_of(const Graph& graph, ValueId value, const EstimateOptions& options) {
  try {
    if (std::optional<Expr> bytes = bytes_in_step(graph, value, options)) {
      return {*bytes, Exactness::kExact, Source::kGraph};
    }
  } catch (const ArithmeticError&) {
    // Too large to be written down.
  }
  return unknown_quantity();
}

void name_values_alive(const Graph& graph, const Lifetimes& lifetimes, uint32_t step,
                       const Bindings& defaults, const EstimateOptions& options,
                       Estimate& estimate) {
  struct Alive {
    Int value;
    uint32_t lifetime;
  };
  std::vector<Alive> alive;
  for (uint32_t i = 0; i < lifetimes.values.size(); ++i) {
    const Lifetime& lifetime = lifetimes.values[i];
    if (lifetime.birth > step || lifetime.death < step) continue;
    alive.push_back({value_or_zero(bytes_of(graph, lifetime.memory, options), defaults), i});
  }
  std::sort(alive.begin(), alive.end(), [](const Alive& a, const Alive& b) {
    return a.value != b.value ? a.value > b.value : a.lifetime < b.lifetime;
  });
  for (const Alive& one : alive) {
    const Lifetime& lifetime = lifetimes.values[one.lifetime];
    NodeId birth = lifetime.from_start ? NodeId() : node_at(lifetimes, lifetime.birth);
    NodeId death = lifetime.to_end ? NodeId() : node_at(lifetimes, lifetime.death);
    estimate.alive_at_peak.push_back(
        {lifetime.memory, birth, death, bytes_of(graph, lifetime.memory, options)});
  }
  estimate.peak_node = node_at(lifetimes, step);
}

}  // namespace

void find_activation_peak(const Model& model, const ModuleTree& tree, const Operands& operands,
                          const Bindings& defaults, const EstimateOptions& options,
                          Estimate& estimate) {
  const Graph& graph = model.graph;
  Lifetimes lifetimes = activation_lifetimes(graph, operands);
  Bindings lower_bounds = lower_bounds_of(model);
  const LiveSums::ScratchOf scratch_of = [&](NodeId node) {
    return scratch_bytes(graph, operands, node, options);
  };
  LiveSums sums([&](ValueId value) { return bytes_in_step(graph, value, options); }, scratch_of,
                lifetimes, lower_bounds, defaults);

  std::vector<LiveSumSet> of_node(graph.nodes.size());
  for (size_t step = 0; step < lifetimes.steps.size(); ++step) {
    of_node[tree.template_of_node[lifetimes.steps[step].index].index].push_back(
        sums.at_step()[step]);
  }
  Peaks peaks(sums, lower_bounds, estimate.diagnostics);
  std::vector<LiveSumSet> of_module(tree.modules.size());
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (of_node[i].empty()) continue;
    LiveSumSet set = sums.undominated(std::move(of_node[i]));
    estimate.nodes[i][Metric::kActivationPeakBytes] = peaks.of(set);
    LiveSumSet& all = of_module[tree.module_of_node[i].index];
    all.insert(all.end(), set.begin(), set.end());
  }
  for (size_t i = tree.modules.size(); i-- > 0;) {
    LiveSumSet set = sums.undominated(std::move(of_module[i]));
    estimate.modules[i][Metric::kActivationPeakBytes] = peaks.of(set);
    if (i == 0) break;
    LiveSumSet& all = of_module[tree.modules[i].parent.index];
    all.insert(all.end(), set.begin(), set.end());
  }
  // A graph without a node that runs still holds its inputs and outputs.
  if (lifetimes.steps.empty()) {
    estimate.modules[0][Metric::kActivationPeakBytes] = peaks.of({sums.at_step()[0]});
  }
  name_values_alive(graph, lifetimes, step_of_peak(sums), defaults, options, estimate);
  if (estimate.peak_node) {
    const std::optional<Expr> scratch = scratch_of(estimate.peak_node);
    estimate.scratch_at_peak = scratch ? Quantity{*scratch, Exactness::kExact, Source::kRule}
                                       : unknown_quantity();
  }
  estimate.packed_peak_bytes = packed_with_scratch(graph, lifetimes, scratch_of, defaults, options);
}

std::vector<Quantity> peaks_of_groups(const Graph& graph, const Operands& operands,
                                      const std::vector<uint32_t>& group_of_node, size_t groups,
                                      const LiveSums::BytesOf& bytes_of,
                                      const LiveSums::ScratchOf& scratch_of,
                                      const Bindings& lower_bounds, const Bindings& defaults) {
  Lifetimes lifetimes = activation_lifetimes(graph, operands);
  LiveSums sums(bytes_of, scratch_of, lifetimes, lower_bounds, defaults);
  std::vector<LiveSumSet> sets(groups);
  for (size_t step = 0; step < lifetimes.steps.size(); ++step) {
    sets[group_of_node[lifetimes.steps[step].index]].push_back(sums.at_step()[step]);
  }
  // A graph without a node that runs still holds its inputs and outputs.
  if (lifetimes.steps.empty() && !sets.empty()) sets[0].push_back(sums.at_step()[0]);
  Diagnostics said_already;
  Peaks peaks(sums, lower_bounds, said_already);
  std::vector<Quantity> result;
  for (LiveSumSet& set : sets) result.push_back(peaks.of(sums.undominated(std::move(set))));
  return result;
}

}  // namespace kcharter
