#include <unordered_map>

#include "structure/level.h"

namespace kcharter {
namespace {

// Which kinds are still possible for a slot, as the instances so far say.
struct Possible {
  bool same = true, carried = true, own = true, outputs = true, like_nodes = true;
  bool any() const { return same || carried || own || outputs || like_nodes; }
  SlotKind kind() const {
    return same      ? SlotKind::kSame
           : carried ? SlotKind::kCarried
           : own     ? SlotKind::kOwn
           : outputs ? SlotKind::kOutputs
                     : SlotKind::kLikeNodes;
  }
};

class StageVerifier {
 public:
  StageVerifier(const Level& level, uint32_t begin, uint32_t period)
      : level_(level), graph_(level.graph()), begin_(begin), period_(period) {}

  Stage run(uint32_t repeat) {
    Stage stage{begin_, period_, 1, {}};
    list_slots();
    for (uint32_t i = 1; i < repeat; ++i) {
      std::vector<Possible> before = possible_;
      std::vector<Slot> slots_before = slots_;
      if (!instance_agrees(i)) {
        possible_ = std::move(before);
        slots_ = std::move(slots_before);
        break;
      }
      previous_ = now_;
      ++stage.repeat;
    }
    for (size_t s = 0; s < slots_.size(); ++s) slots_[s].kind = possible_[s].kind();
    stage.slots = std::move(slots_);
    return stage;
  }

 private:
  std::optional<Port> made_in(ValueId value, uint32_t instance) const {
    std::optional<Port> port = level_.maker(value);
    uint32_t from = begin_ + instance * period_;
    if (!port || port->item < from || port->item >= from + period_) return std::nullopt;
    return Port{port->item - from, port->place};
  }

  void list_slots() {
    for (uint32_t t = 0; t < period_; ++t) {
      std::span<const ValueId> inputs = level_[begin_ + t].inputs;
      for (uint32_t k = 0; k < inputs.size(); ++k) {
        if (made_in(inputs[k], 0)) continue;
        if (!slot_of_.try_emplace(inputs[k].index, slots_.size()).second) continue;
        slots_.push_back({{t, k}, inputs[k], SlotKind::kSame, {}});
      }
    }
    possible_.resize(slots_.size());
    for (const Slot& slot : slots_) previous_.push_back(slot.first);
  }

  bool instance_agrees(uint32_t instance) {
    now_.assign(slots_.size(), ValueId());
    std::unordered_map<uint32_t, size_t> slot_of_now;
    for (uint32_t t = 0; t < period_; ++t) {
      const ItemView& first = level_[begin_ + t];
      uint32_t at = begin_ + instance * period_ + t;
      if (at >= level_.size() || level_[at].class_id != first.class_id) return false;
      const ItemView& here = level_[at];
      for (uint32_t k = 0; k < first.inputs.size(); ++k) {
        std::optional<Port> inside = made_in(first.inputs[k], 0);
        if (inside != made_in(here.inputs[k], instance)) return false;
        if (inside) continue;
        size_t slot = slot_of_.at(first.inputs[k].index);
        // One slot, one value, and one value, one slot.
        if (slot_of_now.try_emplace(here.inputs[k].index, slot).first->second != slot) return false;
        if (now_[slot] && now_[slot] != here.inputs[k]) return false;
        now_[slot] = here.inputs[k];
      }
    }
    for (size_t s = 0; s < slots_.size(); ++s) {
      narrow(s, instance);
      if (!possible_[s].any()) return false;
    }
    return true;
  }

  void narrow(size_t s, uint32_t instance) {
    Possible& possible = possible_[s];
    Slot& slot = slots_[s];
    ValueId value = now_[s];
    possible.same = possible.same && value == slot.first;
    if (possible.carried) {
      std::optional<Port> port = made_in(value, instance - 1);
      if (instance == 1 && port) slot.carried_from = *port;
      possible.carried = port && *port == slot.carried_from;
    }
    NodeId made = graph_[value].producer, first = graph_[slot.first].producer;
    bool distinct = value != previous_[s] && value != slot.first;
    possible.own = possible.own && distinct && !made && !first &&
                   is_of_instance(value, instance) == is_of_instance(slot.first, 0);
    bool outside =
        distinct && made && first && !in_stage(value, instance) && !in_stage(slot.first, instance);
    possible.outputs = possible.outputs && outside && made == first;
    possible.like_nodes = possible.like_nodes && outside && made != first &&
                          level_.classes().nodes().of(made) == level_.classes().nodes().of(first) &&
                          position(value) == position(slot.first);
  }

  // Nothing but that instance uses it.
  bool is_of_instance(ValueId value, uint32_t instance) const {
    uint32_t from = begin_ + instance * period_;
    return level_.is_used_only_in(value, from, from + period_);
  }

  bool in_stage(ValueId value, uint32_t instance) const {
    std::optional<Port> port = level_.maker(value);
    return port && port->item >= begin_ && port->item < begin_ + (instance + 1) * period_;
  }

  size_t position(ValueId value) const {
    const std::vector<ValueId>& outputs = graph_[graph_[value].producer].outputs;
    size_t at = 0;
    while (at < outputs.size() && outputs[at] != value) ++at;
    return at;
  }

  const Level& level_;
  const Graph& graph_;
  uint32_t begin_, period_;
  std::vector<Slot> slots_;
  std::vector<Possible> possible_;
  std::unordered_map<uint32_t, size_t> slot_of_;  // by ValueId of the first instance
  std::vector<ValueId> previous_, now_;           // what enters each slot
};

}  // namespace

Stage verify_stage(const Level& level, uint32_t begin, uint32_t period, uint32_t repeat) {
  return StageVerifier(level, begin, period).run(repeat);
}

}  // namespace kcharter
