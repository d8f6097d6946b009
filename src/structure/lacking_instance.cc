#include "structure/lacking_instance.h"

#include <unordered_set>

namespace kcharter {
namespace {

// How many of a hundred nodes the first may lack, the sum with a carried value aside.
constexpr size_t kMostLacking = 25;
// And how many at all: more is another layer, and a long list of differences is none.
constexpr size_t kMostLackingAtAll = 64;

class LackingMatcher {
 public:
  LackingMatcher(const Level& level, InstancePair pair)
      : level_(level),
        graph_(level.graph()),
        outline_(level.outline()),
        readers_(level.classes().readers()),
        pair_(pair) {}

  std::optional<LackingInstance> run() {
    std::vector<NodeId> first = nodes_of(pair_.first, pair_.first_size, is_first_);
    std::vector<NodeId> second = nodes_of(pair_.second, pair_.second_size, is_second_);
    if (!begin_with_outputs()) return std::nullopt;
    while (!waiting_.empty()) {
      auto [a, b] = waiting_.back();
      waiting_.pop_back();
      if (!match_values(a, b)) return std::nullopt;
    }
    if (first_of_.size() < first.size() || !take_lacking(second)) return std::nullopt;
    if (!match_modules(second)) return std::nullopt;
    for (NodeId node : second) {
      auto matched = first_of_.find(node);
      if (matched == first_of_.end()) continue;
      result_.match.nodes.emplace_back(matched->second, node);
      make(graph_[matched->second], graph_[node]);
    }
    return std::move(result_);
  }

 private:
  struct Hash {
    size_t operator()(NodeId id) const { return id.index; }
  };
  using NodeMap = std::unordered_map<NodeId, NodeId, Hash>;
  using NodeSet = std::unordered_set<NodeId, Hash>;

  // The nodes of `size` items from `begin` on, in order.
  std::vector<NodeId> nodes_of(uint32_t begin, uint32_t size, NodeSet& set) const {
    std::vector<NodeId> nodes;
    const std::vector<ModuleItem>& items = outline_.modules[level_.module()].items;
    for (uint32_t t = 0; t < size; ++t) {
      std::vector<ModuleItem> waiting = {items[begin + t]};
      while (!waiting.empty()) {
        ModuleItem item = waiting.back();
        waiting.pop_back();
        if (item.node) {
          nodes.push_back(item.node);
          set.insert(item.node);
          continue;
        }
        const std::vector<ModuleItem>& inner = outline_.modules[item.module.index].items;
        waiting.insert(waiting.end(), inner.rbegin(), inner.rend());
      }
    }
    return nodes;
  }

  bool begin_with_outputs() {
    for (uint32_t t = 0; t < pair_.first_size; ++t) {
      const ItemView& a = level_[pair_.first + t];
      const ItemView& b = level_[pair_.second + t];
      if (a.is_module != b.is_module || a.outputs.size() != b.outputs.size()) return false;
      if (level_.mark(pair_.first + t) != level_.mark(pair_.second + t)) return false;
      for (size_t k = 0; k < a.outputs.size(); ++k) {
        waiting_.emplace_back(a.outputs[k], b.outputs[k]);
      }
    }
    if (pair_.first_size == pair_.second_size) return true;
    const ItemView& last = level_[pair_.second + pair_.first_size];
    if (last.is_module || last.outputs.size() != 1) return false;
    std::optional<ValueId> carried = carried_operand(last.outputs[0]);
    return carried && match_sum(*carried, last.outputs[0]);
  }

  bool in_first(ValueId value) const { return is_in(is_first_, graph_[value].producer); }
  bool in_second(ValueId value) const { return is_in(is_second_, graph_[value].producer); }
  static bool is_in(const NodeSet& set, NodeId node) { return node && set.count(node) > 0; }

  // Sum(carried, own): what the first instance hands on, where the second adds its own to it.
  std::optional<ValueId> carried_operand(ValueId sum) const {
    const Node& node = graph_[graph_[sum].producer];
    if (node.inputs.size() != 2 || node.outputs.size() != 1 || !node.bodies.empty()) {
      return std::nullopt;
    }
    for (size_t k = 0; k < 2; ++k) {
      ValueId carried = node.inputs[k], own = node.inputs[1 - k];
      if (carried && own && in_first(carried) && in_second(own)) return carried;
    }
    return std::nullopt;
  }

  bool match_sum(ValueId first, ValueId sum) {
    const Node& node = graph_[graph_[sum].producer];
    auto [known, is_new] = result_.stands.try_emplace(sum.index, first);
    if (!is_new) return known->second == first;
    result_.match.lacks_carried = graph_[sum].producer;
    result_.match.entered.emplace_back(first, first);
    result_.entered.emplace(first.index, first);
    waiting_.emplace_back(first, node.inputs[0] == first ? node.inputs[1] : node.inputs[0]);
    return true;
  }

  bool match_values(ValueId a, ValueId b) {
    if (!a || !b) return !a && !b;
    a = readers_.canonical(a);
    b = readers_.canonical(b);
    if (!in_second(b)) return !in_first(a) && enter(a, b);
    if (!in_first(a)) return read_outside(a, b);
    auto [known, is_new] = result_.stands.try_emplace(b.index, a);
    if (!is_new) return known->second == a;
    NodeId first = graph_[a].producer, second = graph_[b].producer;
    const NodeClasses& classes = level_.classes().nodes();
    if (classes.of(first) != classes.of(second)) {
      std::optional<ValueId> carried = carried_operand(b);
      result_.stands.erase(b.index);
      return carried && *carried == a && match_sum(a, b);
    }
    return match_nodes(first, second);
  }

  bool match_nodes(NodeId first, NodeId second) {
    auto [known, is_new] = first_of_.try_emplace(second, first);
    if (!is_new) return known->second == first;
    if (!second_of_.emplace(first, second).second) return false;
    const Node& a = graph_[first];
    const Node& b = graph_[second];
    // One class, so as many inputs and outputs.
    if (!a.bodies.empty()) return false;
    for (size_t k = 0; k < a.inputs.size(); ++k) waiting_.emplace_back(a.inputs[k], b.inputs[k]);
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      if (!a.outputs[k]) continue;
      if (result_.stands.try_emplace(b.outputs[k].index, a.outputs[k]).first->second !=
          a.outputs[k]) {
        return false;
      }
    }
    return true;
  }

  bool enter(ValueId a, ValueId b) {
    bool free = is_free_constant(graph_, b);
    if (free != is_free_constant(graph_, a)) return false;
    if (static_cast<bool>(graph_[a].initializer) != static_cast<bool>(graph_[b].initializer)) {
      return false;
    }
    if (a != b && !graph_[a].producer && !graph_[b].producer) {
      result_.match.given.emplace_back(a, b);
    }
    if (free) return true;
    auto [known, is_new] = result_.entered.try_emplace(b.index, a);
    if (is_new) result_.match.entered.emplace_back(a, b);
    return known->second == a;
  }

  // The first reads from outside what the second computes.
  bool read_outside(ValueId a, ValueId b) {
    auto [known, is_new] = outside_.try_emplace(b.index, a);
    if (is_new) result_.match.read_instead.push_back(a);
    return known->second == a && graph_[a].type == graph_[b].type && !graph_[a].initializer;
  }

  // What no node of the first stands for: nothing with a weight, a cache or a body.
  bool take_lacking(const std::vector<NodeId>& second) {
    for (NodeId id : second) {
      if (first_of_.count(id)) continue;
      const Node& node = graph_[id];
      if (!node.bodies.empty()) return false;
      bool asks_for_size = node.op_type == "Shape" || node.op_type == "Size";
      for (ValueId input : node.inputs) {
        if (!input) continue;
        const Value& value = graph_[readers_.canonical(input)];
        if (value.role == ValueRole::kCache && !asks_for_size) return false;
        if (value.initializer && graph_[value.initializer].role == TensorRole::kParameter) {
          return false;
        }
      }
      result_.match.lacks.push_back(id);
    }
    for (const auto& outside : outside_) {
      if (result_.stands.count(outside.first)) return false;
    }
    size_t lacking = result_.match.lacks.size() - (result_.match.lacks_carried ? 1 : 0);
    return lacking <= kMostLackingAtAll && lacking * 100 <= second.size() * kMostLacking;
  }

  // Nodes of one module stand for nodes of one module.
  bool match_modules(const std::vector<NodeId>& second) {
    std::unordered_map<uint32_t, uint32_t> first_of;
    for (NodeId id : second) {
      auto matched = first_of_.find(id);
      if (matched == first_of_.end()) continue;
      uint32_t b = outline_.module_of_node[id.index];
      uint32_t a = outline_.module_of_node[matched->second.index];
      // The modules around them, up to the level.
      while (a != b) {
        if (a == level_.module() || b == level_.module()) return false;
        auto [known, is_new] = first_of.try_emplace(b, a);
        if (known->second != a) return false;
        if (is_new && !match_contents(outline_.modules[a], outline_.modules[b])) return false;
        a = outline_.modules[a].parent;
        b = outline_.modules[b].parent;
      }
    }
    return true;
  }

  bool match_contents(const OutlineModule& a, const OutlineModule& b) {
    if (a.kind != b.kind || a.caches.size() != b.caches.size()) return false;
    const NodeClasses& classes = level_.classes().nodes();
    for (size_t c = 0; c < a.caches.size(); ++c) {
      if (classes.of_cache(a.caches[c]) != classes.of_cache(b.caches[c])) return false;
      result_.match.caches.emplace_back(a.caches[c], b.caches[c]);
    }
    return true;
  }

  void make(const Node& first, const Node& second) {
    for (size_t k = 0; k < first.outputs.size(); ++k) {
      if (first.outputs[k]) result_.match.made.emplace_back(first.outputs[k], second.outputs[k]);
    }
  }

  const Level& level_;
  const Graph& graph_;
  const Outline& outline_;
  const ValueReaders& readers_;
  InstancePair pair_;
  NodeSet is_first_, is_second_;
  NodeMap first_of_, second_of_;  // matched nodes
  std::unordered_map<uint32_t, ValueId> outside_;
  std::vector<std::pair<ValueId, ValueId>> waiting_;
  LackingInstance result_;
};

}  // namespace

std::optional<LackingInstance> match_lacking_instance(const Level& level, InstancePair pair) {
  return LackingMatcher(level, pair).run();
}

}  // namespace kcharter
