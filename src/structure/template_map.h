// TemplateMap: what stands for each node, tensor and value of the instances that a stage folded
// away.
#pragma once

#include <vector>

#include "structure/fold_level.h"

namespace kcharter {

class TemplateMap {
 public:
  TemplateMap(const Graph& graph, const Outline& outline, const ValueReaders& readers,
              const ModuleClasses& classes);

  // Lets `stands` stand for `item`, which is equal to it, with all that they hold. `stands` and
  // `item` belong to the instances of items [stands_begin, …) and [item_begin, …) of
  // `level_module`.
  struct Instance {
    uint32_t module;      // whose level the instances stand in
    uint32_t begin, end;  // items
  };
  // `varying` receives the nodes of `a` whose constant payload differs from their partner's.
  void pair(const Level& level, Instance a, Instance b, std::vector<NodeId>& varying);
  // A first instance that differs stands for the second, `b`.
  void pair(const FirstInstance& first, Instance a, Instance b, const Level& level);
  // The item of `module` that holds `node`, which is below it.
  uint32_t item_of_node(NodeId node, uint32_t module) const;
  // Follows chains to the end and finds the caches' templates.
  void finish(ModuleTree& tree);

 private:
  void pair_given(const Level& level, Instance a, Instance b);
  void pair_nodes(NodeId stands, NodeId node, std::vector<NodeId>& varying);
  void pair_values(ValueId stands, ValueId value);
  void pair_caches(uint32_t stands, uint32_t cache);
  void pair_tensors(InitializerId stands, InitializerId tensor);
  bool owned_inside(InitializerId tensor, Instance instance) const;
  bool same_payload(const Node& a, const Node& b) const;

  const Graph& graph_;
  const ValueReaders& readers_;
  const Outline& outline_;
  const ModuleClasses& classes_;
  std::vector<uint32_t> item_of_module_;  // by module: its place among its parent's items
  std::vector<uint32_t> item_of_node_;
  std::vector<NodeId> nodes_;
  std::vector<InitializerId> tensors_;
  std::vector<ValueId> values_;
  std::vector<Id<struct CacheTag>> caches_;
  std::vector<std::pair<ValueId, ValueId>> given_;  // values of the pair at hand that no node makes
};

}  // namespace kcharter
