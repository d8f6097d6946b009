#include "structure/placement.h"

#include <algorithm>
#include <utility>

#include "structure/lift_shared.h"
#include "structure/region_modules.h"
#include "structure/repeated_calls.h"
#include "structure/spread.h"
#include "structure/value_readers.h"
#include "structure/weight_module.h"

namespace kcharter {
namespace {

void note_source(PathTable& paths, PathId path, ScopeSource source) {
  for (; path != kRootPath && paths[path].source == ScopeSource::kNone; path = paths[path].parent) {
    paths[path].source = source;
  }
}

class Placer {
 public:
  Placer(const Model& model, const ValueReaders& readers)
      : model_(model), graph_(model.graph), readers_(readers) {}

  Placement run() {
    place_by_scopes();
    if (scoped_ > 0) place_by_values();
    place_by_weights();
    merge_repeated_calls(graph_, readers_, placement_);
    spread(graph_, readers_, placement_);
    lift_shared(graph_, readers_, placement_);
    place_initializers();
    place_caches();
    return std::move(placement_);
  }

 private:
  PathTable& paths() { return placement_.paths; }

  void place_by_scopes() {
    RegionModules regions(graph_, paths());
    placement_.nodes.assign(graph_.nodes.size(), kNoPath);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      PathId path = regions.path_of(NodeId(n));
      if (path == kNoPath) continue;
      placement_.nodes[n] = path;
      ++scoped_;
      const Scope& scope = graph_[node.scope ? node.scope : ScopeId(0)];
      note_source(paths(), path, scope.source);
      note_class(path, scope);
    }
    for (size_t s = 0; s < graph_.scopes.size(); ++s) {
      note_class(regions.path_of(ScopeId(s)), graph_.scopes[s]);
    }
  }

  void note_class(PathId path, const Scope& scope) {
    if (paths()[path].class_name.empty()) paths()[path].class_name = scope.class_name;
  }

  // Fused nodes keep the name of the value that the last of their parts made.
  void place_by_values() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (placement_.nodes[n] != kNoPath || readers_.is_alias(NodeId(n))) continue;
      for (ValueId output : graph_.nodes[n].outputs) {
        if (!output) continue;
        ValueModule named = value_module(graph_[output].name);
        if (named.segments.empty()) continue;
        ResolvedPath found = resolve(paths(), named.segments, named.is_certain);
        if (!found.complete || found.path == kRootPath) continue;
        placement_.nodes[n] = found.path;
        note_source(paths(), found.path, ScopeSource::kValueName);
        break;
      }
    }
  }

  // Where scopes are the rule, a weight's name only points at a module that a scope named too.
  void place_by_weights() {
    bool names_rule = scoped_ * 2 < graph_.nodes.size();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (placement_.nodes[n] != kNoPath || readers_.is_alias(NodeId(n))) continue;
      const Node& node = graph_.nodes[n];
      for (ValueId input : node.inputs) {
        if (!input) continue;
        InitializerId tensor = graph_[readers_.canonical(input)].initializer;
        if (!tensor || !names_reader(readers_.canonical(input), NodeId(n))) continue;
        // An alias bears the name that the tensor has here.
        bool is_alias = readers_.canonical(input) != input;
        const std::string& name = is_alias ? graph_[input].name : graph_[tensor].name;
        std::vector<std::string> segments = weight_module(name, node.op_type);
        if (segments.empty()) continue;
        ResolvedPath found = resolve(paths(), segments, names_rule);
        if (!found.complete || found.path == kRootPath) continue;
        placement_.nodes[n] = found.path;
        note_source(paths(), found.path, ScopeSource::kWeightName);
        break;
      }
    }
  }

  // A tensor's name says where its first reader is; what others do with it is another matter.
  bool names_reader(ValueId tensor, NodeId reader) const {
    std::span<const NodeId> readers = readers_.of(tensor);
    return !readers.empty() && readers[0] == reader;
  }

  PathId readers_of(ValueId value) const {
    PathId path = kNoPath;
    for (NodeId reader : readers_.of(value)) {
      PathId at = placement_.nodes[reader.index];
      path = path == kNoPath ? at : placement_.paths.common_ancestor(path, at);
    }
    return path;
  }

  // Whether `value` is read in several members of a list of modules: then none of them owns it.
  bool is_shared_by_list(ValueId value) const {
    const PathTable& paths = placement_.paths;
    const std::span<const NodeId> readers = readers_.of(value);
    PathId before = placement_.nodes[readers[0].index];
    for (NodeId reader : readers) {
      PathId path = placement_.nodes[reader.index];
      PathId last = std::exchange(before, path);
      PathId both = paths.common_ancestor(last, path);
      if (both == last || both == path) continue;
      const std::string& a = paths[paths.at_depth(last, paths[both].depth + 1)].segment;
      const std::string& b = paths[paths.at_depth(path, paths[both].depth + 1)].segment;
      const std::string stem = without_digits(a);
      if (stem.size() < a.size() && stem == without_digits(b)) return true;
    }
    return false;
  }

  bool read_below(ValueId value, PathId path) const {
    std::span<const NodeId> readers = readers_.of(value);
    return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return placement_.paths.contains(path, placement_.nodes[reader.index]);
    });
  }

  PathId place_initializer(const Initializer& tensor) {
    std::span<const NodeId> readers;
    if (tensor.value) readers = readers_.of(tensor.value);
    std::string_view op = readers.empty() ? std::string_view() : graph_[readers[0]].op_type;
    std::vector<std::string> segments = weight_module(tensor.name, op);
    bool is_checkpoint = model_.format != Format::kOnnx;
    if (readers.empty()) {
      ResolvedPath found = resolve(paths(), segments, is_checkpoint);
      if (found.path != kRootPath) {
        note_source(paths(), found.path, ScopeSource::kWeightName);
        return found.path;
      }
      if (is_checkpoint) return kRootPath;
      return tensor.value && is_output(tensor.value) ? kRootPath : kNoPath;
    }
    ResolvedPath found = resolve(paths(), segments, false);
    PathId all = readers_of(tensor.value);
    if (found.complete && found.path != kRootPath && read_below(tensor.value, found.path) &&
        !is_shared_by_list(tensor.value)) {
      return found.path;
    }
    return all;
  }

  bool is_output(ValueId value) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end();
  }

  void place_initializers() {
    placement_.initializers.resize(graph_.initializers.size());
    for (size_t i = 0; i < graph_.initializers.size(); ++i) {
      PathId path = place_initializer(graph_.initializers[i]);
      if (path == kNoPath) path = paths().child(kRootPath, kUnattributed);
      placement_.initializers[i] = path;
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (placement_.nodes[n] != kNoPath) continue;  // only aliases are left
      ValueId tensor = readers_.canonical(graph_.nodes[n].outputs[0]);
      placement_.nodes[n] = placement_.initializers[graph_[tensor].initializer.index];
    }
  }

  void place_caches() {
    placement_.caches.resize(graph_.caches.size());
    for (size_t c = 0; c < graph_.caches.size(); ++c) {
      const Cache& cache = graph_.caches[c];
      PathId path = kNoPath;
      if (cache.reader) path = placement_.nodes[cache.reader.index];
      if (path == kNoPath && cache.input) path = readers_of(cache.input);
      if (path == kNoPath && cache.output && graph_[cache.output].producer) {
        path = placement_.nodes[graph_[cache.output].producer.index];
      }
      placement_.caches[c] = path == kNoPath ? kRootPath : path;
    }
  }

  const Model& model_;
  const Graph& graph_;
  const ValueReaders& readers_;
  Placement placement_;
  size_t scoped_ = 0;
};

}  // namespace

Placement place(const Model& model, const ValueReaders& readers) {
  return Placer(model, readers).run();
}

}  // namespace kcharter
