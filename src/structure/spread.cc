#include "structure/spread.h"

namespace kcharter {
namespace {

// A placed node near an unplaced one: where it stands and how far along in execution order.
struct Neighbour {
  PathId path = kNoPath;
  int64_t order = -1;
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
                           ? Neighbour{placement_.nodes[producer], static_cast<int64_t>(producer)}
                           : before_[producer];
      if (!placed(producer) && fed_by_input_[producer]) fed_by_input_[n] = true;
      if (near.order > before.order) before = near;
    });
  }

  void look_ahead(size_t n) {
    if (readers_.is_alias(NodeId(n)) && !placed(n)) return;
    if (placed(n)) {
      after_[n] = {placement_.nodes[n], static_cast<int64_t>(n)};
      return;
    }
    Neighbour after;
    PathId all_readers = kNoPath;
    for (ValueId output : graph_.nodes[n].outputs) {
      if (!output) continue;
      for (NodeId reader : readers_.of(output)) {
        Neighbour near = after_[reader.index];
        if (near.path != kNoPath && (after.path == kNoPath || near.order < after.order))
          after = near;
        PathId at = placement_.nodes[reader.index];
        if (at == kNoPath) continue;
        all_readers =
            all_readers == kNoPath ? at : placement_.paths.common_ancestor(all_readers, at);
      }
    }
    after_[n] = after;
    placement_.nodes[n] = decide(n, before_[n].path, after.path, all_readers);
  }

  PathId decide(size_t n, PathId before, PathId after, PathId all_readers) const {
    if (before == kNoPath) {
      if (fed_by_input_[n] || all_readers == kNoPath) return kRootPath;
      return all_readers;
    }
    if (after == kNoPath) return before;
    const PathTable& paths = placement_.paths;
    PathId both = paths.common_ancestor(before, after);
    if (both >= is_list_.size() || !is_list_[both]) return both;
    PathId side = reads_tensor(n) ? after : before;
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
