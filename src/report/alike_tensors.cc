#include "report/alike_tensors.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kcharter {
namespace {

// "model.layers.1.mlp.experts.5.w1" → "model.layers.#.mlp.experts.#.w1": a part of the name that is
// a number counts instances; a digit in a word does not.
std::string without_indices(std::string_view name) {
  std::string pattern;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool is_index =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (begin > 0) pattern += '.';
    pattern += is_index ? "#" : part;
    begin = end + 1;
  }
  return pattern;
}

// By ValueId: the one node that reads it; none: no node, or several.
std::vector<NodeId> only_readers(const Graph& graph) {
  std::vector<NodeId> reader(graph.values.size());
  std::vector<bool> is_shared(graph.values.size());
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (const ValueId input : graph.nodes[node].inputs) {
      if (!input) continue;
      NodeId& known = reader[input.index];
      if (known && known != NodeId(node)) is_shared[input.index] = true;
      known = NodeId(node);
    }
  }
  for (size_t value = 0; value < reader.size(); ++value) {
    if (is_shared[value]) reader[value] = NodeId();
  }
  return reader;
}

std::string kind_of(const Initializer& tensor, NodeId reader) {
  std::string kind = without_indices(tensor.name);
  const auto add = [&](Int number) { kind += ' ' + to_string(number); };
  add(Int{reader.index});
  add(static_cast<Int>(tensor.dtype));
  add(static_cast<Int>(tensor.role));
  add(static_cast<Int>(tensor.part));
  add(Int{tensor.stored_bytes});
  add(tensor.logical_elements.value_or(-1));
  for (const int64_t dim : tensor.dims) add(dim);
  return kind;
}

}  // namespace

std::vector<InitializerId> first_of_alike_tensors(const Document& document) {
  const Graph& graph = document.model.graph;
  const ModuleTree& tree = document.tree;
  const std::vector<NodeId> readers = only_readers(graph);
  std::unordered_map<std::string, InitializerId> first;
  std::vector<InitializerId> result;
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    const InitializerId id(i);
    const Initializer& tensor = graph[id];
    result.push_back(id);
    const bool is_template = tree.template_of_initializer[i] == id && !tensor.alias_of;
    if (!is_template || !tensor.value || !readers[tensor.value.index]) continue;
    const auto [entry, is_new] =
        first.try_emplace(kind_of(tensor, readers[tensor.value.index]), id);
    // One module owns all of a row.
    if (tree.module_of_initializer[entry->second.index] == tree.module_of_initializer[i]) {
      result.back() = entry->second;
    }
  }
  return result;
}

}  // namespace kcharter
