#include "structure/outline.h"

#include <algorithm>
#include <tuple>

namespace kcharter {
namespace {

constexpr uint32_t kNever = UINT32_MAX;

class OutlineMaker {
 public:
  OutlineMaker(const Graph& graph, const Placement& placement)
      : graph_(graph), placement_(placement), paths_(placement.paths), facts_(paths_.size()) {}

  Outline run() {
    gather();
    find_children();
    find_dissolved();
    emit();
    return std::move(outline_);
  }

 private:
  struct Facts {
    uint32_t first_node = kNever;  // of the module with all below it
    uint32_t first_tensor = kNever;
    bool used = false;
    bool has_own_nodes = false;
    bool dissolved = false;
    std::vector<PathId> children;
    std::vector<NodeId> nodes;
    std::vector<InitializerId> initializers;
    std::vector<uint32_t> caches;
  };

  void gather() {
    facts_[kRootPath].used = true;
    for (size_t n = 0; n < placement_.nodes.size(); ++n) {
      Facts& facts = facts_[placement_.nodes[n]];
      facts.used = facts.has_own_nodes = true;
      facts.first_node = std::min(facts.first_node, static_cast<uint32_t>(n));
      facts.nodes.push_back(NodeId(n));
    }
    for (size_t i = 0; i < placement_.initializers.size(); ++i) {
      Facts& facts = facts_[placement_.initializers[i]];
      facts.used = true;
      facts.first_tensor = std::min(facts.first_tensor, static_cast<uint32_t>(i));
      facts.initializers.push_back(InitializerId(i));
    }
    for (size_t c = 0; c < placement_.caches.size(); ++c) {
      facts_[placement_.caches[c]].used = true;
      facts_[placement_.caches[c]].caches.push_back(static_cast<uint32_t>(c));
    }
    // A path's id is above its parent's.
    for (PathId path = static_cast<PathId>(paths_.size()); path-- > 1;) {
      if (!facts_[path].used) continue;
      Facts& parent = facts_[paths_[path].parent];
      parent.used = true;
      parent.first_node = std::min(parent.first_node, facts_[path].first_node);
      parent.first_tensor = std::min(parent.first_tensor, facts_[path].first_tensor);
    }
  }

  auto order(PathId path) const {
    const Facts& facts = facts_[path];
    const std::string& name = paths_[path].segment;
    uint32_t number =
        facts.first_node == kNever && is_index(name) ? static_cast<uint32_t>(std::stoul(name)) : 0;
    return std::tuple(facts.first_node, number, facts.first_tensor, path);
  }

  void find_children() {
    for (PathId path = 1; path < paths_.size(); ++path) {
      if (facts_[path].used) facts_[paths_[path].parent].children.push_back(path);
    }
    for (Facts& facts : facts_) {
      std::sort(facts.children.begin(), facts.children.end(),
                [&](PathId a, PathId b) { return order(a) < order(b); });
    }
  }

  // Whether at least half the gaps between the members of `path` hold a node of its parent.
  bool alternates(PathId path) const {
    const Facts& list = facts_[path];
    if (list.has_own_nodes || !list.initializers.empty() || list.children.size() < 2) return false;
    for (PathId child : list.children) {
      if (!is_index(paths_[child].segment) || facts_[child].first_node == kNever) return false;
    }
    const std::vector<NodeId>& nodes = facts_[paths_[path].parent].nodes;
    size_t gaps = 0;
    for (size_t i = 1; i < list.children.size(); ++i) {
      auto next = std::lower_bound(nodes.begin(), nodes.end(),
                                   NodeId(facts_[list.children[i - 1]].first_node));
      if (next != nodes.end() && next->index < facts_[list.children[i]].first_node) ++gaps;
    }
    return gaps * 2 >= list.children.size() - 1;
  }

  void find_dissolved() {
    for (PathId path = 1; path < paths_.size(); ++path) {
      if (facts_[path].used && paths_[path].parent != kNoPath)
        facts_[path].dissolved = alternates(path);
    }
  }

  uint32_t add_module(PathId path, uint32_t parent) {
    auto id = static_cast<uint32_t>(outline_.modules.size());
    OutlineModule& module = outline_.modules.emplace_back();
    const PathTable::Entry& entry = paths_[path];
    module.parent = parent;
    module.name = entry.segment;
    if (parent != UINT32_MAX) {
      const OutlineModule& above = outline_.modules[parent];
      module.depth = above.depth + 1;
      if (facts_[entry.parent].dissolved) {
        module.name = paths_[entry.parent].segment + "." + entry.segment;
      }
      module.path = above.path.empty() ? module.name : above.path + "." + module.name;
    }
    module.kind = entry.class_name;
    module.source = entry.source;
    return id;
  }

  void emit() {
    outline_.module_of_node.resize(graph_.nodes.size());
    outline_.module_of_initializer.resize(graph_.initializers.size());
    outline_.module_of_cache.resize(graph_.caches.size());
    std::vector<PathId> path_of_module = {kRootPath};
    add_module(kRootPath, UINT32_MAX);
    for (uint32_t m = 0; m < outline_.modules.size(); ++m) fill(m, path_of_module);
  }

  // Own nodes and children, those of dissolved lists with them, in one order.
  void fill(uint32_t m, std::vector<PathId>& path_of_module) {
    const Facts& facts = facts_[path_of_module[m]];
    std::vector<PathId> children;
    for (PathId child : facts.children) {
      if (!facts_[child].dissolved) {
        children.push_back(child);
        continue;
      }
      for (PathId member : facts_[child].children) children.push_back(member);
      take_tensors(m, facts_[child]);
    }
    std::stable_sort(children.begin(), children.end(), [&](PathId a, PathId b) {
      return facts_[a].first_node < facts_[b].first_node;
    });
    std::vector<ModuleItem> items;
    auto node = facts.nodes.begin();
    for (PathId child : children) {
      for (; node != facts.nodes.end() && node->index < facts_[child].first_node; ++node) {
        items.push_back({ModuleId(), *node});
      }
      items.push_back({ModuleId(add_module(child, m)), NodeId()});
      path_of_module.push_back(child);
    }
    for (; node != facts.nodes.end(); ++node) items.push_back({ModuleId(), *node});
    for (NodeId own : facts.nodes) outline_.module_of_node[own.index] = m;
    take_tensors(m, facts);
    outline_.modules[m].items = std::move(items);
  }

  void take_tensors(uint32_t m, const Facts& facts) {
    OutlineModule& module = outline_.modules[m];
    for (InitializerId tensor : facts.initializers) {
      module.initializers.push_back(tensor);
      outline_.module_of_initializer[tensor.index] = m;
    }
    for (uint32_t cache : facts.caches) {
      module.caches.push_back(cache);
      outline_.module_of_cache[cache] = m;
    }
  }

  const Graph& graph_;
  const Placement& placement_;
  const PathTable& paths_;
  std::vector<Facts> facts_;
  Outline outline_;
};

}  // namespace

Outline make_outline(const Graph& graph, const Placement& placement) {
  return OutlineMaker(graph, placement).run();
}

}  // namespace kcharter
