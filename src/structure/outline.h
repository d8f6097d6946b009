// Outline: the tree of modules before folding: every module that holds a node, a tensor or a cache,
// or a module that does.
#pragma once

#include <string>
#include <vector>

#include "kcharter/model/graph.h"
#include "kcharter/structure/module_tree.h"
#include "structure/placement.h"
#include "structure/value_readers.h"

namespace kcharter {

struct OutlineModule {
  uint32_t parent = UINT32_MAX;
  uint32_t depth = 0;
  std::string name;
  std::string path;
  std::string kind;
  ScopeSource source = ScopeSource::kNone;
  std::vector<ModuleItem> items;  // module ids are indices into Outline::modules
  std::vector<InitializerId> initializers;
  std::vector<uint32_t> caches;
};

struct Outline {
  std::vector<OutlineModule> modules;  // 0 is the root; a parent stands before its children
  std::vector<uint32_t> module_of_node;
  std::vector<uint32_t> module_of_initializer;
  std::vector<uint32_t> module_of_cache;
};

// Items stand in the order of their first node that is fed by more than constants; modules without
// nodes follow, children named by numbers in numeric order, others in the order of their first
// tensor. A mere list of modules whose members hand on to nodes of its parent ("experts.0", Mul,
// Add, "experts.1" …) is dissolved into the parent, so that members and nodes stand in one order.
Outline make_outline(const Graph& graph, const ValueReaders& readers, const Placement& placement);

}  // namespace kcharter
