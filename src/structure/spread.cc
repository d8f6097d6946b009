#include "structure/spread.h"

namespace kcharter {
namespace {

// A placed node near an unplaced one: where it stands and how far along in execution order.
struct Neighbour {
  PathId path = kNoPath;
  int64_t order = -1;
  PathId all = kNoPath;  // the deepest module that holds all neighbours on that side
};

class Spreader {
 public:
  Spreader(const Graph& graph, const ValueReaders& readers, Placement& placement)
      : graph_(graph),
        readers_(readers),
        placement_(placement),
        before_(graph.nodes.size()),
        after_(graph.nodes.size()),
        fed_by_input_(graph.nodes.size()) {}

  void run() {
    find_lists();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) look_back(n);
    for (size_t n = graph_.nodes.size(); n-- > 0;) look_ahead(n);
  }

 private:
  bool placed(size_t n) const { return placement_.nodes[n] != kNoPath; }

  // Paths whose children are all numbers and which hold no placed node themselves.
  void find_lists() {
    const PathTable& paths = placement_.paths;
    is_list_.assign(paths.size(), false);
    std::vector<bool> other(paths.size(), false);
    for (PathId path = 1; path < paths.size(); ++path) {
      PathId parent = paths[path].parent;
      if (is_index(paths[path].segment))
        is_list_[parent] = true;
      else
        other[parent] = true;
    }
    for (PathId path : placement_.nodes) {
      if (path != kNoPath) other[path] = true;
    }
    for (PathId path = 0; path < paths.size(); ++path)
      is_list_[path] = is_list_[path] && !other[path];
  }

  void look_back(size_t n) {
    Neighbour& before = before_[n];
    for_each_read(graph_, graph_.nodes[n], [&](ValueId value) {
      const Value& input = graph_[value];
      if (!input.producer) {
        if (!input.initializer) fed_by_input_[n] = true;
        return;
      }
      size_t producer = input.producer.index;
      Neighbour near = placed(producer)
                           ? Neighbour{placement_.nodes[producer], static_cast<int64_t>(producer),
                                       placement_.nodes[producer]}
                           : before_[producer];
      if (!placed(producer) && fed_by_input_[producer]) fed_by_input_[n] = true;
      PathId all = join(before.all, near.all);
      if (near.order > before.order) before = near;
      before.all = all;
    });
  }

  void look_ahead(size_t n) {
    if (readers_.is_alias(NodeId(n)) && !placed(n)) return;
    if (placed(n)) {
      after_[n] = {placement_.nodes[n], static_cast<int64_t>(n), placement_.nodes[n]};
      return;
    }
    Neighbour after;
    for (ValueId output : graph_.nodes[n].outputs) {
      if (!output) continue;
      for (NodeId reader : readers_.of(output)) {
        Neighbour near = after_[reader.index];
        if (near.path != kNoPath && (after.path == kNoPath || near.order < after.order)) {
          after.path = near.path;
          after.order = near.order;
        }
        after.all = join(after.all, placement_.nodes[reader.index]);
      }
    }
    after_[n] = after;
    placement_.nodes[n] = decide(n, before_[n], after);
  }

  PathId join(PathId a, PathId b) const {
    return a == kNoPath ? b : b == kNoPath ? a : placement_.paths.common_ancestor(a, b);
  }

  PathId decide(size_t n, const Neighbour& before, const Neighbour& after) const {
    if (before.path == kNoPath) {
      return fed_by_input_[n] || after.all == kNoPath ? kRootPath : after.all;
    }
    if (after.path == kNoPath) return before.all;
    const PathTable& paths = placement_.paths;
    PathId both = paths.common_ancestor(before.path, after.path);
    if (both >= is_list_.size() || !is_list_[both]) return both;
    PathId side = reads_tensor(n) ? after.path : before.path;
    return paths.at_depth(side, paths[both].depth + 1);
  }

  bool reads_tensor(size_t n) const {
    for (ValueId value : graph_.nodes[n].inputs) {
      if (!value) continue;
      InitializerId tensor = graph_[readers_.canonical(value)].initializer;
      if (tensor && graph_[tensor].role == TensorRole::kParameter) return true;
    }
    return false;
  }

  const Graph& graph_;
  const ValueReaders& readers_;
  Placement& placement_;
  std::vector<Neighbour> before_, after_;
  std::vector<bool> fed_by_input_;
  std::vector<bool> is_list_;
};

}  // namespace

void spread(const Graph& graph, const ValueReaders& readers, Placement& placement) {
  Spreader(graph, readers, placement).run();
}

}  // namespace kcharter
