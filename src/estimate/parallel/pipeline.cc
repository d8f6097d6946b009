#include "estimate/parallel/pipeline.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "kcharter/estimate/parallel.h"

namespace kcharter {
namespace {

Expr stage() { return Expr::variable(kPipelineStage); }
Expr stages() { return Expr::variable(kPipelineParallelSize); }

// 1 on the first stage, 0 elsewhere.
Expr is_first() { return max(Expr(0), Expr(1) - stage()); }
Expr is_last() { return min(Expr(1), max(Expr(0), stage() - stages() + 2)); }

// The layer that stage `index` begins with, where `layers` are divided evenly and the remainder
// goes one each to the last stages but the very last, which has the head to compute (vLLM:
// vllm/distributed/utils.py, get_pp_indices).
Expr first_layer(int64_t layers, const Expr& index) {
  const Expr rest = mod(Expr(layers), stages());
  const Expr even = index * floor_div(Expr(layers), stages());
  return min(Expr(layers), even + max(Expr(0), index - stages() + 1 + rest));
}

// How many of a span's layers are among the first `n`.
Expr among_first(const LayerSpan& span, const Expr& n) {
  const Expr inside = max(Expr(0), n - span.first);
  if (span.period == span.run || span.repeat == 1) return min(inside, Expr(span.count()));
  const Expr rest = min(Expr(span.run), mod(inside, Expr(span.period)));
  return min(floor_div(inside, Expr(span.period)) * span.run + rest, Expr(span.count()));
}

// The length of the slice a path ends with, "layers[2:4]"; 1 where it ends otherwise.
int64_t slice_length(std::string_view path) {
  const size_t open = path.rfind('[');
  const size_t colon = path.find(':', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || colon == std::string_view::npos || !path.ends_with(']')) {
    return 1;
  }
  int64_t from = 0, to = 0;
  std::from_chars(path.data() + open + 1, path.data() + colon, from);
  std::from_chars(path.data() + colon + 1, path.data() + path.size() - 1, to);
  return std::clamp<int64_t>(to - from, 1, INT32_MAX);
}

bool is_number(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Finder {
 public:
  Finder(const Graph& graph, const ModuleTree& tree, const Estimate& estimate)
      : graph_(graph), tree_(tree), estimate_(estimate) {}

  Pipeline find() {
    count_nodes();
    result_.of_module.assign(tree_.modules.size(), kFirstStage);
    set_.assign(tree_.modules.size(), false);
    if (const std::optional<ModuleId> list = list_of_layers()) number_layers(*list);
    place_nodes();
    return std::move(result_);
  }

 private:
  void count_nodes() {
    nodes_.assign(tree_.modules.size(), 0);
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (tree_.template_of_node[i] == NodeId(i)) ++nodes_[tree_.module_of_node[i].index];
    }
    for (size_t i = tree_.modules.size(); i-- > 1;) {
      nodes_[tree_.modules[i].parent.index] += nodes_[i];
    }
  }

  bool is_layer(ModuleId id) const {
    const Module& module = tree_[id];
    if (nodes_[id.index] == 0) return false;
    const size_t dot = module.name.rfind('.');
    return module.is_stage || is_number(module.name.substr(dot == std::string::npos ? 0 : dot + 1));
  }

  // The list that runs once and whose repeated layers hold most weights.
  std::optional<ModuleId> list_of_layers() const {
    std::optional<ModuleId> best;
    Int most = -1;
    for (uint32_t i = 0; i < tree_.modules.size(); ++i) {
      if (tree_.modules[i].multiplicity != 1) continue;
      Int weight = 0;
      bool any = false;
      for (const ModuleItem& item : tree_.modules[i].items) {
        if (!item.module || !tree_[item.module].is_stage || nodes_[item.module.index] == 0)
          continue;
        const auto& bytes = estimate_.modules[item.module.index][Metric::kWeightBytes].formula;
        weight += bytes ? bytes->constant().value_or(0) : 0;
        any = any || tree_[item.module].repeat > 1;
      }
      if (!any || weight <= most) continue;
      most = weight;
      best = ModuleId(i);
    }
    return best;
  }

  PlaceId add(const LayerSpan& span) {
    result_.spans.push_back(span);
    return static_cast<PlaceId>(kFirstSpan + result_.spans.size() - 1);
  }

  void place(ModuleId id, PlaceId place) {
    result_.of_module[id.index] = place;
    set_[id.index] = true;
  }

  void number_layers(ModuleId list) {
    for (const ModuleItem& item : tree_[list].items) {
      if (!item.module || !is_layer(item.module)) continue;
      const Module& module = tree_[item.module];
      const int64_t period = module.instances.empty() ? 1 : slice_length(module.instances[0]);
      if (module.is_stage) result_.lists.push_back(item.module);
      LayerSpan span{result_.layers, period, module.repeat, 1};
      if (period == 1) {
        place(item.module, add(span));
      } else {
        number_period(item.module, span);
      }
      result_.layers += period * module.repeat;
    }
    // A parent stands before its children.
    for (size_t i = 1; i < tree_.modules.size(); ++i) {
      const uint32_t parent = tree_.modules[i].parent.index;
      if (!set_[i] && set_[parent]) place(ModuleId(i), result_.of_module[parent]);
    }
  }

  // The unequal layers of a period, each as often as the period repeats.
  void number_period(ModuleId stage, LayerSpan span) {
    place(stage, add(span));
    int64_t offset = 0;
    for (const ModuleItem& item : tree_[stage].items) {
      if (!item.module || !is_layer(item.module)) continue;
      LayerSpan own = span;
      own.first += offset;
      own.run = std::min(tree_[item.module].repeat, span.period - offset);
      if (own.run < 1) return;
      place(item.module, add(own));
      offset += own.run;
    }
  }

  // Outside of the layers: before the first of their nodes, or after.
  void place_nodes() {
    result_.of_node.assign(graph_.nodes.size(), kFirstStage);
    std::vector<bool> is_later(tree_.modules.size(), false);
    std::vector<bool> has_node(tree_.modules.size(), false);
    bool begun = false;
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (tree_.template_of_node[i] != NodeId(i)) continue;
      const uint32_t module = tree_.module_of_node[i].index;
      if (set_[module]) {
        begun = true;
        result_.of_node[i] = result_.of_module[module];
        continue;
      }
      result_.of_node[i] = begun ? kLastStage : kFirstStage;
      if (!has_node[module]) is_later[module] = begun;
      has_node[module] = true;
    }
    for (size_t i = 0; i < tree_.modules.size(); ++i) {
      // What no operator reads (layers for drafting) goes where the layers end.
      if (!set_[i] && (is_later[i] || !has_node[i])) result_.of_module[i] = kLastStage;
    }
  }

  const Graph& graph_;
  const ModuleTree& tree_;
  const Estimate& estimate_;
  std::vector<int64_t> nodes_;  // by ModuleId, those below included
  std::vector<bool> set_;       // by ModuleId
  Pipeline result_;
};

}  // namespace

Expr Pipeline::on_stage(PlaceId place) const {
  if (layers == 0) return place == kLastStage ? is_last() : is_first();
  if (place == kFirstStage) return is_first();
  if (place == kLastStage) return is_last();
  if (place == kBothEnds) return max(is_first(), is_last());
  const LayerSpan& span = spans[place - kFirstSpan];
  return among_first(span, first_layer(layers, stage() + 1)) -
         among_first(span, first_layer(layers, stage()));
}

int64_t Pipeline::count(PlaceId place) const {
  return place < kFirstSpan ? 1 : spans[place - kFirstSpan].count();
}

Pipeline find_pipeline(const Graph& graph, const ModuleTree& tree, const Estimate& estimate) {
  return Finder(graph, tree, estimate).find();
}

}  // namespace kcharter
