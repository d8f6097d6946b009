#include "structure/first_instance.h"

#include <algorithm>
#include <unordered_map>

#include "structure/lacking_instance.h"

namespace kcharter {
namespace {

bool is_merged_norm(std::string_view merged, std::string_view plain) {
  if (merged == "SkipLayerNormalization") return plain == "LayerNormalization";
  return merged == "SkipSimplifiedLayerNormalization" &&
         (plain == "SimplifiedLayerNormalization" || plain == "RMSNormalization");
}

ValueId at(const std::vector<ValueId>& values, size_t i) {
  return i < values.size() ? values[i] : ValueId();
}

class Matcher {
 public:
  Matcher(const Level& level, Stage& stage)
      : level_(level),
        graph_(level.graph()),
        outline_(level.outline()),
        readers_(level.classes().readers()),
        stage_(stage) {}

  std::optional<FirstInstance> run() {
    match_.size = stage_.period;
    if (!pair_items()) return std::nullopt;
    for (auto [first, second] : match_.nodes) {
      if (!is_same_class(first, second) ? !match_norms(graph_[first], graph_[second])
                                        : !match_nodes(graph_[first], graph_[second])) {
        return std::nullopt;
      }
    }
    return finish();
  }

  std::optional<FirstInstance> run_lacking(uint32_t size) {
    std::optional<LackingInstance> lacking =
        match_lacking_instance(level_, {stage_.begin - size, size, stage_.begin, stage_.period});
    if (!lacking) return std::nullopt;
    match_ = std::move(lacking->match);
    match_.size = size;
    stands_ = std::move(lacking->stands);
    entered_ = std::move(lacking->entered);
    return finish();
  }

 private:
  std::optional<FirstInstance> finish() {
    if (stage_.repeat == 1 && !find_slots()) return std::nullopt;
    for (const Slot& slot : stage_.slots) {
      if (!is_wired_alike(slot)) return std::nullopt;
    }
    return std::move(match_);
  }

  bool is_same_class(NodeId a, NodeId b) const {
    return level_.classes().nodes().of(a) == level_.classes().nodes().of(b);
  }

  // Pairs the nodes of both instances, in order.
  bool pair_items() {
    const std::vector<ModuleItem>& items = outline_.modules[level_.module()].items;
    std::vector<std::pair<ModuleItem, ModuleItem>> waiting;
    for (uint32_t t = stage_.period; t-- > 0;) {
      waiting.emplace_back(items[stage_.begin - stage_.period + t], items[stage_.begin + t]);
    }
    while (!waiting.empty()) {
      auto [first, second] = waiting.back();
      waiting.pop_back();
      if (static_cast<bool>(first.module) != static_cast<bool>(second.module)) return false;
      if (first.node) {
        if (!pair_nodes(first.node, second.node)) return false;
        continue;
      }
      const OutlineModule& a = outline_.modules[first.module.index];
      const OutlineModule& b = outline_.modules[second.module.index];
      if (a.items.size() != b.items.size() || a.initializers.size() != b.initializers.size() ||
          a.caches.size() != b.caches.size() || a.kind != b.kind) {
        return false;
      }
      for (size_t c = 0; c < a.caches.size(); ++c) {
        const NodeClasses& classes = level_.classes().nodes();
        if (classes.of_cache(a.caches[c]) != classes.of_cache(b.caches[c])) return false;
        match_.caches.emplace_back(a.caches[c], b.caches[c]);
      }
      for (size_t i = a.items.size(); i-- > 0;) waiting.emplace_back(a.items[i], b.items[i]);
    }
    return true;
  }

  bool pair_nodes(NodeId first, NodeId second) {
    match_.nodes.emplace_back(first, second);
    if (is_same_class(first, second)) return true;
    match_.variants.emplace_back(first, second);
    return is_merged_norm(graph_[second].op_type, graph_[first].op_type);
  }

  void make(ValueId first, ValueId second) {
    stands_[second.index] = first;
    match_.made.emplace_back(first, second);
  }

  bool match_nodes(const Node& first, const Node& second) {
    for (size_t k = 0; k < first.inputs.size(); ++k) {
      if (!match_input(first.inputs[k], second.inputs[k])) return false;
    }
    for (size_t body = 0; body < first.bodies.size(); ++body) {
      const Region& a = graph_[first.bodies[body]];
      const Region& b = graph_[second.bodies[body]];
      for (size_t k = 0; k < a.outputs.size(); ++k) {
        if (!match_input(a.outputs[k], b.outputs[k])) return false;
      }
    }
    for (size_t k = 0; k < first.outputs.size(); ++k) {
      if (first.outputs[k]) make(first.outputs[k], second.outputs[k]);
    }
    return true;
  }

  // Skip…Normalization(input, skip, gamma, beta) makes the norm and, fourth, the sum, which in the
  // first instance is the input itself.
  bool match_norms(const Node& first, const Node& second) {
    const std::vector<ValueId>& in = second.inputs;
    const std::vector<ValueId>& out = second.outputs;
    bool has_beta = second.op_type == "SkipLayerNormalization";
    if (at(in, has_beta ? 4 : 3) || is_read(at(out, 1)) || is_read(at(out, 2))) return false;
    if (!at(in, 0) || !at(in, 1) || is_inside(in[0]) || is_inside(in[1])) return false;
    if (float_attribute(first, "epsilon", 1e-5) != float_attribute(second, "epsilon", 1e-5))
      return false;
    if (!match_input(at(first.inputs, 0), in[0]) || !match_input(at(first.inputs, 1), at(in, 2)) ||
        !match_input(at(first.inputs, 2), has_beta ? at(in, 3) : ValueId())) {
      return false;
    }
    make(first.outputs[0], out[0]);
    if (at(out, 3)) make(first.inputs[0], out[3]);
    return true;
  }

  bool is_read(ValueId value) const { return value && !readers_.of(value).empty(); }
  bool is_inside(ValueId second) const { return stands_.count(second.index) > 0; }

  bool match_input(ValueId first, ValueId second) {
    if (!first || !second) return !first && !second;
    first = readers_.canonical(first);
    second = readers_.canonical(second);
    bool free = is_free_constant(graph_, second);
    if (free != is_free_constant(graph_, first)) return false;
    if (free || first == second) return enter(first, second);
    auto inside = stands_.find(second.index);
    if (inside != stands_.end()) return inside->second == first;
    if (static_cast<bool>(graph_[first].initializer) !=
        static_cast<bool>(graph_[second].initializer)) {
      return false;
    }
    return enter(first, second);
  }

  // A value that enters the second instance and the one that enters the first in its place.
  bool enter(ValueId first, ValueId second) {
    if (first != second && !graph_[first].producer && !graph_[second].producer) {
      match_.given.emplace_back(first, second);
    }
    if (is_free_constant(graph_, second)) return true;
    match_.entered.emplace_back(first, second);
    return entered_.try_emplace(second.index, first).first->second == first;
  }

  // What enters a second instance that has no third to compare with.
  bool find_slots() {
    std::unordered_map<uint32_t, ValueId> made_by_first;  // → its like in the second
    for (auto [first, second] : match_.made) made_by_first.emplace(first.index, second);
    std::unordered_map<uint32_t, bool> seen;
    stage_.slots.clear();
    for (uint32_t t = 0; t < stage_.period; ++t) {
      std::span<const ValueId> inputs = level_[stage_.begin + t].inputs;
      for (uint32_t k = 0; k < inputs.size(); ++k) {
        if (is_inside(inputs[k]) || !seen.emplace(inputs[k].index, true).second) continue;
        Slot slot{{t, k}, inputs[k], SlotKind::kSame, {}};
        auto made = made_by_first.find(inputs[k].index);
        auto entered = entered_.find(inputs[k].index);
        if (made != made_by_first.end()) {
          std::optional<Port> port = level_.maker(made->second);
          if (!port || port->item < stage_.begin) return false;
          slot.kind = SlotKind::kCarried;
          slot.carried_from = {port->item - stage_.begin, port->place};
        } else if (entered == entered_.end()) {
          if (!is_read_by_lacking(inputs[k])) return false;
        } else if (entered->second != inputs[k]) {
          slot.kind = SlotKind::kOwn;
        }
        stage_.slots.push_back(slot);
      }
    }
    return true;
  }

  // Whether it enters only nodes that the first instance lacks.
  bool is_read_by_lacking(ValueId value) const {
    std::span<const NodeId> readers = readers_.of(value);
    return std::any_of(match_.lacks.begin(), match_.lacks.end(), [&](NodeId node) {
      return std::find(readers.begin(), readers.end(), node) != readers.end();
    });
  }

  bool is_wired_alike(const Slot& slot) const {
    auto entered = entered_.find(slot.first.index);
    if (slot.kind == SlotKind::kCarried) {
      ValueId made = level_[stage_.begin + slot.carried_from.item].outputs[slot.carried_from.place];
      auto stands = stands_.find(made.index);
      return stands != stands_.end() && stands->second == slot.first;
    }
    if (entered == entered_.end()) return is_read_by_lacking(slot.first);
    ValueId first = entered->second;
    NodeId made = graph_[first].producer, made_second = graph_[slot.first].producer;
    switch (slot.kind) {
      case SlotKind::kSame:
        return first == slot.first;
      case SlotKind::kOwn:
        return first != slot.first && !made && !made_second;
      case SlotKind::kOutputs:
        return first != slot.first && made == made_second;
      default:
        return first != slot.first && made && is_same_class(made, made_second);
    }
  }

  const Level& level_;
  const Graph& graph_;
  const Outline& outline_;
  const ValueReaders& readers_;
  Stage& stage_;
  FirstInstance match_;
  std::unordered_map<uint32_t, ValueId>
      stands_;  // value made in the second → its like in the first
  std::unordered_map<uint32_t, ValueId> entered_;  // value that enters the second → the first's
};

}  // namespace

std::optional<FirstInstance> match_first_instance(const Level& level, Stage& stage, uint32_t size) {
  if (stage.begin < size || size == 0) return std::nullopt;
  if (size == stage.period) {
    if (std::optional<FirstInstance> match = Matcher(level, stage).run()) return match;
  }
  return Matcher(level, stage).run_lacking(size);
}

}  // namespace kcharter
