#include "structure/outline.h"

#include <algorithm>
#include <tuple>

namespace kcharter {
namespace {

constexpr uint32_t kNever = UINT32_MAX;

class OutlineMaker {
 public:
  OutlineMaker(const Graph& graph, const ValueReaders& readers, const Placement& placement)
      : graph_(graph),
        readers_(readers),
        placement_(placement),
        paths_(placement.paths),
        facts_(paths_.size()) {}

  Outline run() {
    find_fed_by_constants();
    gather();
    find_children();
    find_dissolved();
    emit();
    return std::move(outline_);
  }

 private:
  struct Facts {
    // Of the module with all below it; nodes fed by constants alone count only where there are no
    // other.
    uint32_t first_node = kNever;
    uint32_t first_constant = kNever;
    uint32_t start() const { return first_node != kNever ? first_node : first_constant; }
    uint32_t first_tensor = kNever;
    bool used = false;
    bool has_own_nodes = false;
    bool dissolved = false;
    bool hands_on = false;  // to a node of its parent's parent
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
      uint32_t& first = fed_by_constants_[n] ? facts.first_constant : facts.first_node;
      first = std::min(first, static_cast<uint32_t>(n));
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
      parent.first_constant = std::min(parent.first_constant, facts_[path].first_constant);
      parent.first_tensor = std::min(parent.first_tensor, facts_[path].first_tensor);
    }
  }

  auto order(PathId path) const {
    const Facts& facts = facts_[path];
    const std::string& name = paths_[path].segment;
    uint32_t number =
        facts.start() == kNever && is_index(name) ? static_cast<uint32_t>(std::stoul(name)) : 0;
    return std::tuple(facts.start(), number, facts.first_tensor, path);
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

  // Marks the members of lists that hand a value to a node of the list's parent.
  void find_handing_on() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      PathId from = placement_.nodes[n];
      if (paths_[from].depth < 2) continue;
      for (ValueId value : graph_.nodes[n].outputs) {
        if (!value) continue;
        for (NodeId reader : readers_.of(value)) {
          PathId to = placement_.nodes[reader.index];
          uint32_t depth = paths_[to].depth + 2;
          if (paths_[from].depth < depth) continue;
          PathId member = paths_.at_depth(from, depth);
          if (paths_[paths_[member].parent].parent == to) facts_[member].hands_on = true;
        }
      }
    }
  }

  bool stands_among_nodes(PathId path) const {
    const Facts& list = facts_[path];
    if (list.has_own_nodes || list.children.size() < 2) return false;
    size_t handing_on = 0;
    for (PathId child : list.children) {
      if (!is_index(paths_[child].segment) || facts_[child].start() == kNever) return false;
      handing_on += facts_[child].hands_on;
    }
    return handing_on * 2 >= list.children.size();
  }

  void find_dissolved() {
    find_handing_on();
    for (PathId path = 1; path < paths_.size(); ++path) {
      if (facts_[path].used) facts_[path].dissolved = stands_among_nodes(path);
    }
  }

  void find_fed_by_constants() {
    fed_by_constants_.assign(graph_.nodes.size(), true);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for_each_read(graph_, graph_.nodes[n], [&](ValueId value) {
        const Value& input = graph_[value];
        bool constant = input.producer ? fed_by_constants_[input.producer.index]
                                       : static_cast<bool>(input.initializer);
        if (!constant) fed_by_constants_[n] = false;
      });
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
    std::stable_sort(children.begin(), children.end(),
                     [&](PathId a, PathId b) { return facts_[a].start() < facts_[b].start(); });
    std::vector<ModuleItem> items;
    auto node = facts.nodes.begin();
    for (PathId child : children) {
      for (; node != facts.nodes.end() && node->index < facts_[child].start(); ++node) {
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
  const ValueReaders& readers_;
  const Placement& placement_;
  const PathTable& paths_;
  std::vector<Facts> facts_;
  std::vector<bool> fed_by_constants_;  // by NodeId
  Outline outline_;
};

}  // namespace

Outline make_outline(const Graph& graph, const ValueReaders& readers, const Placement& placement) {
  return OutlineMaker(graph, readers, placement).run();
}

}  // namespace kcharter
