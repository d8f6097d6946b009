// Expressions: which nodes compute the same from the same.
#pragma once

#include <unordered_map>
#include <vector>

#include "kcharter/model/graph.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

// Fed the nodes of a graph in execution order.
class Expressions {
 public:
  Expressions(const Graph& graph, const ModuleTree& tree);

  // The first node with the same operator, attributes and inputs in the same region; `node` itself
  // where it is the first. Random nodes and those with bodies are always the first.
  NodeId first_like(NodeId node);
  // The value that stands for `value`: equal small constants and results of equal nodes have one.
  ValueId stands_for(ValueId value) const { return stands_for_[value.index]; }

 private:
  bool may_repeat(NodeId node);
  bool is_same(const Node& a, const Node& b) const;

  const Graph& graph_;
  const ModuleTree& tree_;
  std::vector<signed char> may_repeat_;  // by NodeId of a template; -1: not yet asked
  std::vector<ValueId> stands_for_;
  std::unordered_multimap<size_t, NodeId> known_;
};

}  // namespace kcharter
