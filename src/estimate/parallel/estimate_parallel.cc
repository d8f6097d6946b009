#include "estimate/parallel/estimate_parallel.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "estimate/activation_peak.h"
#include "estimate/node_cost.h"
#include "estimate/parallel/communication.h"
#include "estimate/parallel/device_sums.h"
#include "estimate/parallel/find_layouts.h"
#include "estimate/parallel/pipeline.h"
#include "estimate/parallel/weight_layouts.h"
#include "estimate/runs.h"
#include "estimate/scratch.h"
#include "estimate/weights.h"
#include "kcharter/estimate/caches.h"
#include "kcharter/estimate/operand_traffic.h"

namespace kcharter {
namespace {

Expr tensor() { return Expr::variable(kTensorParallelSize); }
Expr pipelined() { return Expr::variable(kPipelineParallelSize); }
Expr experts() { return Expr::variable(kExpertParallelSize); }
Expr replicas() { return Expr::variable(kDataParallelSize); }

constexpr std::string_view kSizes[] = {kTensorParallelSize, kPipelineParallelSize,
                                       kExpertParallelSize, kDataParallelSize};

constexpr size_t kMostConditions = 64;

class Estimator {
 public:
  Estimator(const Model& model, const ModuleTree& tree, const Operands& operands,
            const std::vector<Quantity>& runs, const Bindings& defaults,
            const EstimateOptions& options, const Estimate& estimate)
      : model_(model),
        graph_(model.graph),
        tree_(tree),
        operands_(operands),
        runs_(runs),
        defaults_(defaults),
        options_(options),
        layouts_(find_layouts(graph_, operands)),
        pipeline_(find_pipeline(graph_, tree, estimate)),
        sums_(layouts_.table, pipeline_) {}

  ParallelEstimate run() {
    ParallelEstimate result;
    result.devices = tensor() * pipelined() * replicas();
    result.layers = pipeline_.layers;
    add_weights(result);
    add_caches();
    add_nodes();
    result.device = sums_.take();
    result.device[Metric::kActivationPeakBytes] = peak();
    result.communication = find_communication(graph_, tree_, layouts_, pipeline_, runs_);
    add_conditions(result);
    return result;
  }

 private:
  void add_weights(ParallelEstimate& result) {
    const WeightPlaces weights = place_weights(graph_, tree_, operands_, layouts_, pipeline_);
    std::map<LayoutId, WeightSplit> splits;
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      const Initializer& initializer = graph_.initializers[i];
      if (initializer.alias_of) continue;
      const Int bytes = resident_bytes(initializer);
      sums_.add_weight(weights.layouts[i], weights.places[i], bytes, 1);
      WeightSplit& split = splits[weights.layouts[i]];
      if (split.tensors++ == 0) split.example = initializer.name;
      split.bytes = checked_add(split.bytes, bytes);
    }
    for (auto& [layout, split] : splits) {
      describe(layouts_.table[layout], split);
      result.weights.push_back(std::move(split));
    }
    std::stable_sort(result.weights.begin(), result.weights.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  static std::string_view units_of(const Layout& layout) {
    switch (layout.unit) {
      case SplitUnit::kElement:
        return "elements";
      case SplitUnit::kHead:
        return "heads";
      case SplitUnit::kKeyValueHead:
        return "key_value_heads";
    }
    return "elements";
  }

  static void describe(const Layout& layout, WeightSplit& split) {
    if (layout.experts > 0) {
      split.by = kExpertParallelSize;
      split.of = "experts";
      split.units = layout.experts;
    } else if (is_split(layout)) {
      split.by = kTensorParallelSize;
      split.of = units_of(layout);
      split.units = layout.segments.front().units;
    }
  }

  void add_caches() {
    const std::vector<ModuleId> modules = modules_of_caches(graph_, tree_);
    for (uint32_t i = 0; i < graph_.caches.size(); ++i) {
      const Cache& cache = graph_.caches[i];
      const uint32_t of = tree_.template_of_cache[i];
      const PlaceId place = pipeline_.of_module[modules[of].index];
      const Metric resident =
          cache.kind == CacheKind::kState ? Metric::kStateBytes : Metric::kKvCacheBytes;
      const Layout& layout = layouts_.table[layouts_.caches[i]];
      add_cache(resident, place, cache, layout, allocated_elements(cache));
      add_cache(Metric::kCacheCopyBytes, place, cache, layout, copied_elements(graph_, cache));
    }
  }

  // Blocks are whole on each device: its elements come first.
  void add_cache(Metric metric, PlaceId place, const Cache& cache, const Layout& layout,
                 const std::optional<Expr>& elements) {
    Quantity held = unknown_quantity();
    if (elements) {
      const Expr own = held_by_device(of_replica(*elements), layout);
      held = {cache_byte_size(own, cache, operands_.kv_blocks), Exactness::kExact, Source::kRule};
      if (own.is_zero()) held = {};
    }
    sums_.add(metric, kWholeLayout, place, Taking::kAsIs, held);
  }

  void add_nodes() {
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (tree_.template_of_node[i] == NodeId(i)) add_node(NodeId(i), NodeId(i), runs_[i]);
    }
    for (const Variant& variant : tree_.variants) {
      if (!variant.stands) continue;  // counted as what it is
      add_node(variant.node, variant.stands,
               {Expr(variant.count), Exactness::kExact, Source::kGraph});
    }
  }

  void add_node(NodeId node, NodeId stands, const Quantity& times) {
    const PlaceId place = pipeline_.of_node[stands.index];
    const LayoutId work = layouts_.work[node.index];
    const auto add = [&](Metric metric, LayoutId layout, Taking taking, const Quantity& once) {
      const Quantity all = repeated(once, times);
      if (all.formula && all.formula->is_zero() && all.exactness == Exactness::kExact) return;
      sums_.add(metric, layout, place, taking, all);
    };
    Diagnostics said_already;
    const Metrics cost = node_cost(graph_, operands_, node, said_already);
    for (const Metric metric : {Metric::kFlops, Metric::kElementwiseFlops}) {
      add(metric, work, Taking::kShared, cost[metric]);
    }
    const Node& operator_node = graph_[node];
    for (const OperandTraffic& part : operand_traffic(graph_, operands_, node)) {
      const std::vector<ValueId>& side =
          part.is_output ? operator_node.outputs : operator_node.inputs;
      if (part.operand >= side.size()) continue;
      const LayoutId layout = layout_of(side[part.operand], part.metric, work);
      const bool is_expert = layouts_.table[layout].experts > 0;
      add(part.metric, layout, is_expert ? Taking::kMet : Taking::kShared, part.bytes);
    }
  }

  // A weight as it is stored in parts; of another operand the part that is there.
  LayoutId layout_of(ValueId value, Metric metric, LayoutId work) const {
    if (metric == Metric::kWeightReadBytes) {
      const ConstantSource source = source_of_constant(graph_, value);
      return source.stored.empty() ? kWholeLayout : layouts_.weights[source.stored[0].index];
    }
    const ValueId memory = operands_.memory_of(value);
    for (const auto* caches : {&operands_.cache_in, &operands_.cache_out}) {
      const uint32_t cache = (*caches)[memory.index];
      if (cache != kNoCache) return layouts_.caches[cache];
    }
    const LayoutId own = layouts_.values[value.index];
    // Rows are sent to experts where the operator runs.
    const Layout& where = layouts_.table[work];
    if (where.routed && !layouts_.table[own].routed) return routed_;
    return own;
  }

  Quantity peak() const {
    std::vector<uint32_t> places(graph_.nodes.size());
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      places[i] = pipeline_.of_node[tree_.template_of_node[i].index];
    }
    std::map<std::pair<Expr, LayoutId>, Expr> known;
    const auto bytes_of = [&](ValueId value) -> std::optional<Expr> {
      auto bytes = byte_size(graph_[value].type);
      if (bytes) bytes = in_chunks(*bytes, options_);
      const LayoutId layout = layouts_.values[value.index];
      if (!bytes || layout == kWholeLayout) return bytes;
      const auto [found, is_new] = known.try_emplace({*bytes, layout});
      if (is_new) found->second = shared_by_devices(*bytes, layouts_.table[layout]);
      return found->second;
    };
    const auto scratch_of = [&](NodeId node) { return scratch_on_device(node); };
    const std::vector<Quantity> peaks = peaks_of_groups(
        graph_, operands_, places, pipeline_.places(), bytes_of, scratch_of, bounds(),
        settings());
    Quantity result;
    std::vector<Expr> largest;
    for (PlaceId place = 0; place < peaks.size(); ++place) {
      if (!peaks[place].formula) {
        result.exactness = std::max(result.exactness, Exactness::kLowerBound);
        continue;
      }
      result.exactness = std::max(result.exactness, peaks[place].exactness);
      if (peaks[place].formula->is_zero()) continue;
      const Expr is_there = min(Expr(1), pipeline_.on_stage(place));
      largest.push_back(of_replica(*peaks[place].formula) * is_there);
    }
    result.source = Source::kGraph;
    if (!largest.empty()) result.formula = max(largest);
    else if (result.exactness == Exactness::kLowerBound) return unknown_quantity();
    return result;
  }

  // Scores of the heads that are there; matrices as far as they are there.
  std::optional<Expr> scratch_on_device(NodeId node) const {
    if (operands_.costs_nothing(node)) return Expr(0);
    try {
      std::optional<Expr> bytes = score_bytes(graph_, node, options_);
      if (!bytes) return std::nullopt;
      bytes = shared_by_devices(*bytes, layouts_.table[layouts_.work[node.index]]);
      for (const auto& weight : dequantized_weights(graph_, operands_, node, options_)) {
        Layout layout = layouts_.table[layouts_.weights[weight.stored.index]];
        *bytes += held_by_device(weight.bytes, layout);
      }
      return bytes;
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }

  Bindings bounds() const {
    Bindings bounds = lower_bounds_of(model_);
    for (const Variable& size : parallel_variables()) bounds[size.name] = size.min;
    return bounds;
  }

  Bindings settings() const {
    Bindings values = defaults_;
    for (const Variable& size : parallel_variables()) values.try_emplace(size.name, size.value);
    return values;
  }

  void add_conditions(ParallelEstimate& result) const {
    std::set<std::pair<std::string, int64_t>> said;
    const std::vector<bool> used = layouts_in_use();
    for (LayoutId id = 0; id < used.size(); ++id) {
      if (!used[id] || said.size() >= kMostConditions) continue;
      const Layout& layout = layouts_.table[id];
      if (layout.experts > 0 && said.emplace("experts", layout.experts).second) {
        result.conditions.push_back(
            {"uneven-split", std::to_string(layout.experts) + " experts",
             "the expert group's size does not divide them: some devices hold one more",
             mod(Expr(layout.experts), experts())});
      }
      if (!is_split(layout) || layout.experts > 0 || layout.routed) continue;
      for (const Segment& segment : layout.segments) {
        if (said.emplace(units_of(layout), segment.units).second) {
          result.conditions.push_back(condition(layout, segment.units));
        }
      }
    }
    add_group_conditions(result);
  }

  SplitCondition condition(const Layout& layout, int64_t units) const {
    const Expr rest = mod(Expr(units), tensor());
    const std::string count = std::to_string(units);
    switch (layout.unit) {
      case SplitUnit::kKeyValueHead:
        return {"refused-split", count + " heads of keys and values",
                "engines want the tensor group's size to divide them or to be a multiple of them",
                min(rest, mod(tensor(), Expr(units)))};
      case SplitUnit::kHead:
        return {"refused-split", count + " heads",
                "engines want the tensor group's size to divide them", rest};
      case SplitUnit::kElement:
        break;
    }
    return {"uneven-split", count + " elements",
            "the tensor group's size does not divide them: engines pad or refuse this", rest};
  }

  // Only what a weight or cache lies in is a split of the model.
  std::vector<bool> layouts_in_use() const {
    std::vector<bool> used(layouts_.table.size(), false);
    for (const auto* list : {&layouts_.weights, &layouts_.caches}) {
      for (const LayoutId id : *list) used[id] = true;
    }
    return used;
  }

  void add_group_conditions(ParallelEstimate& result) const {
    const Expr layers(pipeline_.layers);
    result.conditions.push_back({"refused-split", std::to_string(pipeline_.layers) + " layers",
                                 "there are more pipeline stages than layers",
                                 max(Expr(0), pipelined() - max(Expr(1), layers))});
    if (pipeline_.layers > 0) {
      result.conditions.push_back({"uneven-split", std::to_string(pipeline_.layers) + " layers",
                                   "the number of stages does not divide them: some have one more",
                                   mod(layers, pipelined())});
    }
    result.conditions.push_back({"refused-split", "pipeline_stage",
                                 "there is no such stage: they are numbered from 0",
                                 max(Expr(0), Expr::variable(kPipelineStage) - pipelined() + 1)});
    result.conditions.push_back({"uneven-split", "batch_size",
                                 "the number of replicas does not divide it: some have one more",
                                 mod(Expr::variable(kBatchSize), replicas())});
    result.conditions.push_back(
        {"refused-split", "expert_parallel_size",
         "an expert group is made of whole tensor groups, or is a part of one",
         mod(tensor() * replicas(), experts()) +
             min(mod(tensor(), experts()), mod(experts(), tensor()))});
  }

  const Model& model_;
  const Graph& graph_;
  const ModuleTree& tree_;
  const Operands& operands_;
  const std::vector<Quantity>& runs_;
  const Bindings& defaults_;
  const EstimateOptions& options_;
  Layouts layouts_;
  Pipeline pipeline_;
  DeviceSums sums_;
  LayoutId routed_ = layouts_.table.id_of({.routed = true});
};

}  // namespace

ParallelEstimate estimate_parallel(const Model& model, const ModuleTree& tree,
                                   const Operands& operands, const std::vector<Quantity>& runs,
                                   const Bindings& defaults, const EstimateOptions& options,
                                   const Estimate& estimate) {
  try {
    return Estimator(model, tree, operands, runs, defaults, options, estimate).run();
  } catch (const ArithmeticError&) {
    ParallelEstimate unknown;
    for (Quantity& quantity : unknown.device.all) quantity = unknown_quantity();
    return unknown;
  }
}

std::vector<Variable> parallel_variables() {
  return {{std::string(kTensorParallelSize), "Tensor parallel size"},
          {std::string(kPipelineParallelSize), "Pipeline parallel size"},
          {std::string(kExpertParallelSize), "Expert parallel size"},
          {std::string(kDataParallelSize), "Data parallel size"},
          {std::string(kPipelineStage), "Pipeline stage", 0, 0}};
}

bool is_parallel(std::string_view variable) {
  const std::vector<Variable> all = parallel_variables();
  return std::any_of(all.begin(), all.end(),
                     [&](const Variable& known) { return known.name == variable; });
}

Bindings fullest_stage(const Quantity& quantity, const Bindings& values) {
  const auto stages = values.find(kPipelineParallelSize);
  if (!quantity.formula || stages == values.end() || stages->second <= 1) return values;
  Bindings fullest = values, here = values;
  std::optional<Int> most;
  for (Int stage = 0; stage < stages->second; ++stage) {
    here[std::string(kPipelineStage)] = stage;
    try {
      const Int held = quantity.formula->evaluate(here);
      if (most && held <= *most) continue;
      most = held;
      fullest = here;
    } catch (const ArithmeticError&) {
      continue;
    }
  }
  return fullest;
}

bool has_several_devices(const Bindings& values) {
  return std::any_of(std::begin(kSizes), std::end(kSizes), [&](std::string_view size) {
    const auto found = values.find(size);
    return found != values.end() && found->second > 1;
  });
}

}  // namespace kcharter
