#include "estimate/parallel/find_layouts.h"

#include <algorithm>

#include "estimate/parallel/layout_rules.h"

namespace kcharter {
namespace {

bool is_if(const Node& node) { return node.op_type == "If" && node.domain.empty(); }

// Owners stand after the nodes of their bodies: from the back, outer regions come first.
std::vector<bool> regions_that_run(const Graph& graph) {
  std::vector<bool> runs(std::max<size_t>(graph.regions.size(), 1), true);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const RegionId own = graph.nodes[i].region ? graph.nodes[i].region : RegionId(0);
    for (const RegionId body : graph.nodes[i].bodies) {
      runs[body.index] = runs[own.index] && graph[body].runs != RegionRuns::kNo;
    }
  }
  return runs;
}

// The one branch whose results are those of the If.
const Region* only_branch(const Graph& graph, const Node& node, const std::vector<bool>& runs) {
  const Region* only = nullptr;
  for (const RegionId body : node.bodies) {
    if (!runs[body.index]) continue;
    if (only) return nullptr;
    only = &graph[body];
  }
  return only;
}

class Finder {
 public:
  Finder(const Graph& graph, const Operands& operands)
      : graph_(graph),
        operands_(operands),
        pass_(graph, operands),
        runs_(regions_that_run(graph)) {}

  Layouts find() {
    find_vocabulary();
    pass_.want_outputs();
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      if (takes_part(i)) want(graph_.nodes[i]);
    }
    pass_.set_caches();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (takes_part(i)) set(graph_.nodes[i]);
    }
    pass_.finish();
    return pass_.take();
  }

 private:
  bool takes_part(size_t i) const {
    const RegionId region = graph_.nodes[i].region;
    return !operands_.folded[i] && !operands_.on_host[i] && (!region || runs_[region.index]);
  }

  static bool has_operands(const Node& node) {
    return !node.inputs.empty() && node.inputs[0] && !node.outputs.empty() && node.outputs[0];
  }

  void want(const Node& node) {
    const Region* branch = is_if(node) ? only_branch(graph_, node, runs_) : nullptr;
    for (size_t i = 0; branch && i < std::min(branch->outputs.size(), node.outputs.size()); ++i) {
      pass_.want(branch->outputs[i], pass_.wanted(node.outputs[i]));
    }
    const LayoutRule* rule = has_operands(node) ? find_layout_rule(node) : nullptr;
    rule && rule->want ? rule->want(pass_, node) : pass_.want_whole(node);
  }

  void set(const Node& node) {
    const Region* branch = is_if(node) ? only_branch(graph_, node, runs_) : nullptr;
    for (size_t i = 0; branch && i < std::min(branch->outputs.size(), node.outputs.size()); ++i) {
      if (branch->outputs[i]) pass_.set(node.outputs[i], pass_.of(branch->outputs[i]));
    }
    if (branch) return;
    const LayoutRule* rule = has_operands(node) ? find_layout_rule(node) : nullptr;
    if (rule) return rule->set(pass_, node);
    pass_.gather_all(node);
    for (const ValueId input : node.inputs) pass_.set_weight(input, {});
  }

  // Tables of positions and types are looked up in, too; the vocabulary is the one with most rows.
  void find_vocabulary() {
    for (const Node& node : graph_.nodes) {
      if (!has_operands(node) || node.inputs.size() < 2) continue;
      int64_t rows = 0;
      if (node.op_type == "QuantizedGather") rows = int_attribute(node, "rows", 0);
      const bool is_lookup = node.op_type == "Gather" || node.op_type == "GatherBlockQuantized";
      if (is_lookup && pass_.rank(node.inputs[0]) == 2 && pass_.is_constant(node.inputs[0]) &&
          node.inputs[1] && !pass_.is_constant(node.inputs[1])) {
        rows = pass_.size(node.inputs[0], 0);
      }
      pass_.vocabulary_rows = std::max(pass_.vocabulary_rows, rows);
    }
  }

  const Graph& graph_;
  const Operands& operands_;
  LayoutPass pass_;
  std::vector<bool> runs_;
};

}  // namespace

const LayoutRule* find_layout_rule(const Node& node) {
  for (auto find : {find_matrix_rule, find_attention_rule, find_expert_rule, find_movement_rule}) {
    if (const LayoutRule* rule = find(node)) return rule;
  }
  return nullptr;
}

Layout split_last(const LayoutPass& pass, ValueId value, std::vector<Segment> segments,
                  SplitUnit unit) {
  return split(pass.rank(value) - 1, std::move(segments), unit);
}

bool is_split_last(const LayoutPass& pass, ValueId value, const Layout& layout) {
  return is_split(layout) && value && layout.axis == pass.rank(value) - 1;
}

Layout with_axis(Layout layout, int32_t axis) {
  layout.axis = axis;
  return layout;
}

Layouts find_layouts(const Graph& graph, const Operands& operands) {
  return Finder(graph, operands).find();
}

}  // namespace kcharter
