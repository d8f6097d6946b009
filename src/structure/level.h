// Level: the items of one module in order, and how values run between them.
#pragma once

#include <optional>
#include <vector>

#include "structure/module_classes.h"

namespace kcharter {

// Where a value enters or leaves an instance: the item within it, and the place in that item's
// interface.
struct Port {
  uint32_t item = 0;
  uint32_t place = 0;
  friend bool operator==(Port, Port) = default;
};

// How the values that enter the instances of a stage at one slot hang together.
enum class SlotKind : uint8_t {
  kSame,      // one value for all
  kCarried,   // made by the instance before; the first instance reads what stands in its place
  kOwn,       // each its own graph input, tensor or cache
  kOutputs,   // each its own output of one node outside
  kLikeNodes  // each the output of a node of its own outside, all of one class
};

struct Slot {
  Port port;      // where it first enters the instance
  ValueId first;  // what the first instance reads
  SlotKind kind = SlotKind::kSame;
  Port carried_from;  // kCarried: where the instance before makes it
};

// Instances in a row, verified to be equal inside and in how they are wired to each other.
struct Stage {
  uint32_t begin = 0, period = 0, repeat = 0;
  std::vector<Slot> slots;
};

// Where a value is made and last read within a level; one table serves all levels in turn.
struct ValuePlace {
  uint32_t level = UINT32_MAX;  // the module that the entry is valid for
  uint32_t maker = UINT32_MAX;  // none: it comes from outside the level
  uint32_t place = 0;
  uint32_t first_use = UINT32_MAX;
  uint32_t last_use = 0;
};
using ValuePlaces = std::vector<ValuePlace>;  // by ValueId

class Level {
 public:
  // `places` must have an entry for each value and not serve another level while this one lives.
  Level(const Graph& graph, const ModuleClasses& classes, const Outline& outline, uint32_t module,
        ValuePlaces& places);

  uint32_t size() const { return static_cast<uint32_t>(views_.size()); }
  const ItemView& operator[](size_t i) const { return views_[i]; }
  // What must be equal for items to be folded: the class and, of a module, its name less the
  // digits.
  const std::vector<uint32_t>& class_ids() const { return class_ids_; }
  // Of a module: its name less the digits, as a number.
  uint32_t mark(uint32_t item) const { return marks_[item]; }
  // Where an item of this level makes `value`.
  std::optional<Port> maker(ValueId value) const;
  // The first and last item that read it; for the last UINT32_MAX where something outside the
  // module uses it.
  uint32_t first_use(ValueId value) const { return places_[value.index].first_use; }
  uint32_t last_use(ValueId value) const;
  // Whether nothing but one of the items [begin, end) uses it, given that one of them does.
  bool is_used_only_in(ValueId value, uint32_t begin, uint32_t end) const;
  const Graph& graph() const { return graph_; }
  const ModuleClasses& classes() const { return classes_; }
  const Outline& outline() const { return outline_; }
  uint32_t module() const { return module_; }

  // Of the `slack` + 1 first positions where a repeat may begin, the one where fewest values cross.
  uint32_t best_cut(uint32_t begin, uint32_t period, uint32_t slack) const;

 private:
  ValuePlace& place_of(ValueId value);
  uint32_t mark_of(const ModuleItem& item, StringInterner& stems) const;

  const Graph& graph_;
  const ModuleClasses& classes_;
  const Outline& outline_;
  uint32_t module_;
  std::vector<ItemView> views_;
  std::vector<uint32_t> class_ids_, marks_;
  ValuePlaces& places_;
};

// The longest stage of at most `repeat` instances of `period` items that begins at `begin`; its
// `repeat` is below 2 if the first two are not equal or not wired alike.
Stage verify_stage(const Level& level, uint32_t begin, uint32_t period, uint32_t repeat);

}  // namespace kcharter
