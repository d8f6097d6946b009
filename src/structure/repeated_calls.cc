#include "structure/repeated_calls.h"

#include <unordered_map>

namespace kcharter {
namespace {

// The sibling that "fc1_1" may be a call of: "fc1".
PathId called_sibling(const PathTable& paths, PathId path) {
  std::string_view segment = paths[path].segment;
  size_t underscore = segment.rfind('_');
  if (path == kRootPath || underscore == std::string_view::npos || underscore == 0) return kNoPath;
  if (!is_index(segment.substr(underscore + 1))) return kNoPath;
  return paths.find_child(paths[path].parent, segment.substr(0, underscore));
}

}  // namespace

void merge_repeated_calls(const Graph& graph, const ValueReaders& readers, Placement& placement) {
  const PathTable& paths = placement.paths;
  std::unordered_map<PathId, bool> reads_only_siblings;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    PathId path = placement.nodes[n];
    if (path == kNoPath) continue;
    PathId sibling = called_sibling(paths, path);
    if (sibling == kNoPath) continue;
    for (ValueId input : graph.nodes[n].inputs) {
      if (!input) continue;
      ValueId value = readers.canonical(input);
      InitializerId tensor = graph[value].initializer;
      if (!tensor || graph[tensor].role != TensorRole::kParameter) continue;
      bool is_siblings = false;
      for (NodeId reader : readers.of(value)) {
        is_siblings = is_siblings || placement.nodes[reader.index] == sibling;
      }
      // An alias bears the name of the parameter that it stands for here.
      bool has_own_name = input != value;
      auto [known, is_new] = reads_only_siblings.try_emplace(path, true);
      known->second = known->second && is_siblings && !has_own_name;
    }
  }
  for (PathId& path : placement.nodes) {
    if (path == kNoPath) continue;
    auto found = reads_only_siblings.find(path);
    if (found != reads_only_siblings.end() && found->second) path = called_sibling(paths, path);
  }
}

}  // namespace kcharter
