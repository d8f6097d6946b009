// ModuleClasses: which modules of an outline are equal inside: the same items in the same order,
// wired the same way, with the same tensors and caches of their own.
//
// A module is seen from outside through its interface: the values that enter it, in the order of
// their first use, and those it makes that are used outside, in the order they are made. A value
// that is used only inside, a weight say, is not part of it.
#pragma once

#include <span>
#include <vector>

#include "structure/interner.h"
#include "structure/node_classes.h"
#include "structure/outline.h"
#include "structure/value_readers.h"

namespace kcharter {

// An item of a level: a node or a module, with its interface.
struct ItemView {
  uint32_t class_id = 0;  // of nodes and modules together
  bool is_module = false;
  std::span<const ValueId> inputs;
  std::span<const ValueId> outputs;
};

class ModuleClasses {
 public:
  ModuleClasses(const Graph& graph, const ValueReaders& readers, const Outline& outline);

  const NodeClasses& nodes() const { return node_classes_; }
  const ValueReaders& readers() const { return readers_; }
  ItemView view(const ModuleItem& item) const;
  // Whether `value` is used by something outside `module`; one that is not is of no concern there.
  bool is_used_outside(ValueId value, uint32_t module) const {
    return home_depth_[value.index] < outline_.modules[module].depth;
  }
  // The own tensors of a module that nobody below it reads, in an order that follows their names.
  std::vector<InitializerId> unread_tensors(uint32_t module) const;

 private:
  struct Interface {
    uint32_t class_id = 0;
    std::vector<ValueId> inputs, outputs;
  };
  void find_homes();
  void list_node_values();
  void classify(uint32_t module);

  const Graph& graph_;
  const ValueReaders& readers_;
  const Outline& outline_;
  NodeClasses node_classes_;
  Interner keys_;
  StringInterner strings_;
  std::vector<uint32_t>
      home_depth_;  // by ValueId: depth of the deepest module that holds all its uses
  std::vector<ValueId> node_values_;  // inputs, then outputs of each node, without absent ones
  std::vector<uint32_t> inputs_begin_, outputs_begin_;  // by NodeId, into node_values_
  std::vector<Interface> interfaces_;                   // by module
  std::vector<uint32_t> local_, stamp_;  // by ValueId: local number, valid for `stamp`
};

}  // namespace kcharter
