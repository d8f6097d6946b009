#include "report/document_ids.h"

#include "report/alike_tensors.h"

namespace kcharter {
namespace {

// `template_of(id)` gives the id that stands for `id`, `is_listed(id)` whether a template is
// wanted.
template <typename TemplateOf, typename IsListed>
Numbering number(size_t count, TemplateOf template_of, IsListed is_listed) {
  Numbering table;
  table.number_of.assign(count, Numbering::kNone);
  for (uint32_t id = 0; id < count; ++id) {
    if (template_of(id) != id || !is_listed(id)) continue;
    table.number_of[id] = static_cast<uint32_t>(table.members.size());
    table.members.push_back(id);
  }
  table.instances.assign(table.members.size(), 0);
  for (uint32_t id = 0; id < count; ++id) {
    const uint32_t first = template_of(id);
    if (first >= count || table.number_of[first] == Numbering::kNone) continue;
    table.number_of[id] = table.number_of[first];
    ++table.instances[table.number_of[id]];
  }
  return table;
}

// What stands for a value in the document: its template, and of tensors that are alike the first.
ValueId shown_value(const Document& document, const std::vector<InitializerId>& first, ValueId id) {
  const ValueId shown = document.tree.template_of_value[id.index];
  const InitializerId tensor = document.model.graph[shown].initializer;
  if (!tensor || first[tensor.index] == tensor) return shown;
  return document.model.graph[first[tensor.index]].value;
}

// Values that a listed node or the graph itself names.
std::vector<bool> used_values(const Document& document, const Numbering& nodes,
                              const std::vector<InitializerId>& first) {
  const Graph& graph = document.model.graph;
  std::vector<bool> used(graph.values.size());
  const auto mark = [&](ValueId value) {
    if (value.index >= used.size()) return;
    used[shown_value(document, first, value).index] = true;
  };
  const auto mark_all = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values) mark(value);
  };
  for (const uint32_t node : nodes.members) {
    mark_all(graph.nodes[node].inputs);
    mark_all(graph.nodes[node].outputs);
    for (const RegionId body : graph.nodes[node].bodies) {
      mark_all(graph[body].inputs);
      mark_all(graph[body].outputs);
    }
  }
  mark_all(graph.inputs);
  mark_all(graph.outputs);
  for (const Cache& cache : graph.caches) {
    mark(cache.input);
    mark(cache.output);
  }
  for (const LiveValue& live : document.estimate.alive_at_peak) mark(live.value);
  return used;
}

}  // namespace

std::vector<std::vector<uint32_t>> Numbering::stood_for() const {
  std::vector<std::vector<uint32_t>> ids(members.size());
  for (uint32_t id = 0; id < number_of.size(); ++id) {
    if (number_of[id] != kNone) ids[number_of[id]].push_back(id);
  }
  return ids;
}

DocumentIds number_document(const Document& document) {
  const Graph& graph = document.model.graph;
  const ModuleTree& tree = document.tree;
  const auto always = [](uint32_t) { return true; };
  DocumentIds ids;
  ids.nodes = number(
      graph.nodes.size(), [&](uint32_t id) { return tree.template_of_node[id].index; }, always);
  const std::vector<InitializerId> first = first_of_alike_tensors(document);
  const std::vector<bool> used = used_values(document, ids.nodes, first);
  ids.values = number(
      graph.values.size(),
      [&](uint32_t id) { return shown_value(document, first, ValueId(id)).index; },
      [&](uint32_t id) { return used[id]; });
  const auto is_stored = [&](uint32_t id) { return !graph.initializers[id].alias_of; };
  ids.tensors = number(
      graph.initializers.size(),
      [&](uint32_t id) {
        return is_stored(id) ? first[tree.template_of_initializer[id].index].index
                             : Numbering::kNone;
      },
      is_stored);
  for (uint32_t id = 0; id < graph.initializers.size(); ++id) {
    const InitializerId original = graph.initializers[id].alias_of;
    if (original) ids.tensors.number_of[id] = ids.tensors.number_of[original.index];
  }
  ids.caches = number(
      graph.caches.size(), [&](uint32_t id) { return tree.template_of_cache[id]; }, always);
  return ids;
}

}  // namespace kcharter
