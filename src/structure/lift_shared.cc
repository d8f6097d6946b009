#include "structure/lift_shared.h"

#include <algorithm>

namespace kcharter {
namespace {

class Lifter {
 public:
  Lifter(const Graph& graph, const ValueReaders& readers, Placement& placement)
      : graph_(graph),
        readers_(readers),
        paths_(placement.paths),
        nodes_(placement.nodes),
        of_weights_(graph.nodes.size()),
        lifted_(graph.nodes.size()) {}

  void run() {
    find_made_of_weights();
    for (size_t n = nodes_.size(); n-- > 0;) lift(NodeId(n));
  }

 private:
  void find_made_of_weights() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      bool of_weights = false;
      for_each_read(graph_, node, [&](ValueId read) {
        const Value& value = graph_[readers_.canonical(read)];
        if (value.role == ValueRole::kCache) of_weights = true;
        if (value.initializer) {
          of_weights |= graph_[value.initializer].role == TensorRole::kParameter;
        } else if (value.producer) {
          of_weights = of_weights || of_weights_[value.producer.index];
        }
      });
      of_weights_[n] = of_weights && node.op_type != "Shape" && node.op_type != "Size";
    }
  }

  void lift(NodeId node) {
    PathId own = nodes_[node.index];
    if (own == kNoPath || own == kRootPath || of_weights_[node.index] || readers_.is_alias(node)) {
      return;
    }
    PathId to = own;
    for (ValueId value : graph_[node].outputs) {
      if (!value) continue;
      PathId all = module_of_sharers(own, value);
      if (all != kNoPath) to = paths_.common_ancestor(to, all);
    }
    if (to == own) return;
    nodes_[node.index] = outside_lists(to);
    lifted_[node.index] = true;
  }

  // The deepest module that holds all readers of a shared value; none: it is not shared.
  PathId module_of_sharers(PathId own, ValueId value) const {
    PathId all = kNoPath;
    bool by_lifted = false;
    for (NodeId reader : readers_.of(value)) {
      PathId at = nodes_[reader.index];
      if (at == kNoPath) return kNoPath;
      all = all == kNoPath ? at : paths_.common_ancestor(all, at);
      by_lifted = by_lifted || lifted_[reader.index];
    }
    if (all == kNoPath) return kNoPath;
    all = paths_.common_ancestor(all, own);
    if (all == own) return kNoPath;
    PathId member = paths_.at_depth(own, paths_[all].depth + 1);
    if (by_lifted && !is_index(paths_[member].segment)) return all;
    if (!is_index(paths_[member].segment)) return kNoPath;
    return by_lifted || is_read_by_members(member, all, value) ? all : kNoPath;
  }

  // By two other members of the list, or by this one and another.
  bool is_read_by_members(PathId member, PathId list, ValueId value) const {
    PathId other = kNoPath;
    bool by_own = false;
    for (NodeId reader : readers_.of(value)) {
      PathId at = nodes_[reader.index];
      if (at == list) continue;
      PathId of = paths_.at_depth(at, paths_[list].depth + 1);
      if (of == member) {
        by_own = true;
      } else if (is_index(paths_[of].segment)) {
        if (other != kNoPath && other != of) return true;
        other = of;
      }
      if (by_own && other != kNoPath) return true;
    }
    return false;
  }

  PathId outside_lists(PathId path) const {
    while (path != kRootPath && is_list(path)) path = paths_[path].parent;
    return path;
  }

  bool is_list(PathId path) const { return paths_.find_child(path, "0") != kNoPath; }

  const Graph& graph_;
  const ValueReaders& readers_;
  const PathTable& paths_;
  std::vector<PathId>& nodes_;
  std::vector<bool> of_weights_;  // by NodeId
  std::vector<bool> lifted_;
};

}  // namespace

void lift_shared(const Graph& graph, const ValueReaders& readers, Placement& placement) {
  Lifter(graph, readers, placement).run();
}

}  // namespace kcharter
