#include "structure/template_map.h"

#include <algorithm>
#include <unordered_map>

namespace kcharter {
namespace {

template <typename T>
std::vector<T> identity(size_t size) {
  std::vector<T> map;
  map.reserve(size);
  for (size_t i = 0; i < size; ++i) map.push_back(T(i));
  return map;
}

template <typename T>
void follow_chains(std::vector<T>& map) {
  for (T& target : map) {
    // Bounded: a value that a hostile graph hands round between stages would lead in a circle.
    for (int step = 0; step < 1024 && map[target.index] != target; ++step) {
      target = map[target.index];
    }
  }
}

}  // namespace

TemplateMap::TemplateMap(const Graph& graph, const Outline& outline, const ValueReaders& readers,
                         const ModuleClasses& classes)
    : graph_(graph),
      readers_(readers),
      outline_(outline),
      classes_(classes),
      item_of_module_(outline.modules.size()),
      item_of_node_(graph.nodes.size()),
      nodes_(identity<NodeId>(graph.nodes.size())),
      tensors_(identity<InitializerId>(graph.initializers.size())),
      values_(identity<ValueId>(graph.values.size())),
      caches_(identity<Id<struct CacheTag>>(graph.caches.size())) {
  for (const OutlineModule& module : outline.modules) {
    for (uint32_t i = 0; i < module.items.size(); ++i) {
      if (module.items[i].module)
        item_of_module_[module.items[i].module.index] = i;
      else
        item_of_node_[module.items[i].node.index] = i;
    }
  }
}

uint32_t TemplateMap::item_of_node(NodeId node, uint32_t module) const {
  uint32_t below = outline_.module_of_node[node.index];
  if (below == module) return item_of_node_[node.index];
  while (outline_.modules[below].parent != module) {
    if (below == 0) return UINT32_MAX;  // not below it
    below = outline_.modules[below].parent;
  }
  return item_of_module_[below];
}

void TemplateMap::pair(const Level& level, Instance a, Instance b, std::vector<NodeId>& varying) {
  std::vector<std::pair<ModuleItem, ModuleItem>> waiting;
  const std::vector<ModuleItem>& items = outline_.modules[a.module].items;
  for (uint32_t t = 0; t < a.end - a.begin; ++t) {
    waiting.emplace_back(items[a.begin + t], items[b.begin + t]);
  }
  given_.clear();
  while (!waiting.empty()) {
    auto [stands, item] = waiting.back();
    waiting.pop_back();
    if (!stands.module) {
      pair_nodes(stands.node, item.node, varying);
      continue;
    }
    const OutlineModule& from = outline_.modules[stands.module.index];
    const OutlineModule& to = outline_.modules[item.module.index];
    for (size_t i = 0; i < from.items.size(); ++i) waiting.emplace_back(from.items[i], to.items[i]);
    for (size_t c = 0; c < from.caches.size(); ++c) pair_caches(from.caches[c], to.caches[c]);
    std::vector<InitializerId> unread_from = classes_.unread_tensors(stands.module.index);
    std::vector<InitializerId> unread_to = classes_.unread_tensors(item.module.index);
    for (size_t i = 0; i < unread_from.size(); ++i) tensors_[unread_to[i].index] = unread_from[i];
  }
  pair_given(level, a, b);
}

void TemplateMap::pair(const FirstInstance& first, Instance a, Instance b, const Level& level) {
  for (auto [stands, node] : first.nodes) nodes_[node.index] = stands;
  for (auto [stands, value] : first.made) pair_values(stands, value);
  for (auto [stands, cache] : first.caches) pair_caches(stands, cache);
  given_ = first.given;
  pair_given(level, a, b);
}

void TemplateMap::pair_given(const Level& level, Instance a, Instance b) {
  for (auto [from, to] : given_) {
    InitializerId stands = graph_[from].initializer, tensor = graph_[to].initializer;
    // A cache is its reader's own, though others may ask for its shape.
    bool caches = graph_[from].role == ValueRole::kCache && graph_[to].role == ValueRole::kCache;
    if (!tensor && (caches || (level.is_used_only_in(from, a.begin, a.end) &&
                               level.is_used_only_in(to, b.begin, b.end)))) {
      values_[to.index] = from;
    }
    if (!tensor || !owned_inside(stands, a) || !owned_inside(tensor, b)) continue;
    tensors_[tensor.index] = stands;
    values_[to.index] = from;
  }
}

bool TemplateMap::owned_inside(InitializerId tensor, Instance instance) const {
  uint32_t module = outline_.module_of_initializer[tensor.index];
  if (module == instance.module) {
    std::span<const NodeId> readers = readers_.of(graph_[tensor].value);
    return std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
      uint32_t item = item_of_node(reader, module);
      return item >= instance.begin && item < instance.end;
    });
  }
  while (module != 0 && outline_.modules[module].parent != instance.module) {
    module = outline_.modules[module].parent;
  }
  uint32_t item = item_of_module_[module];
  return module != 0 && item >= instance.begin && item < instance.end;
}

void TemplateMap::pair_nodes(NodeId stands, NodeId node, std::vector<NodeId>& varying) {
  const Node& from = graph_[stands];
  const Node& to = graph_[node];
  nodes_[node.index] = stands;
  if (!same_payload(from, to)) varying.push_back(stands);
  for (size_t k = 0; k < from.outputs.size(); ++k) pair_values(from.outputs[k], to.outputs[k]);
  for (size_t k = 0; k < from.inputs.size(); ++k) {
    if (!from.inputs[k] || !to.inputs[k]) continue;
    ValueId a = readers_.canonical(from.inputs[k]), b = readers_.canonical(to.inputs[k]);
    if (a == b || graph_[a].producer || graph_[b].producer) continue;
    if (static_cast<bool>(graph_[a].initializer) == static_cast<bool>(graph_[b].initializer)) {
      given_.emplace_back(a, b);
    }
  }
  for (size_t body = 0; body < from.bodies.size(); ++body) {
    const Region& a = graph_[from.bodies[body]];
    const Region& b = graph_[to.bodies[body]];
    for (size_t k = 0; k < a.inputs.size(); ++k) pair_values(a.inputs[k], b.inputs[k]);
  }
}

void TemplateMap::pair_values(ValueId stands, ValueId value) {
  if (stands && value) values_[value.index] = stands;
}

void TemplateMap::pair_caches(uint32_t stands, uint32_t cache) {
  caches_[cache] = Id<struct CacheTag>(stands);
  pair_values(graph_.caches[stands].input, graph_.caches[cache].input);
}

bool TemplateMap::same_payload(const Node& a, const Node& b) const {
  if (is_constant_node(a)) return a.attributes == b.attributes;
  for (size_t k = 0; k < a.inputs.size(); ++k) {
    if (!a.inputs[k] || !b.inputs[k] || a.inputs[k] == b.inputs[k]) continue;
    InitializerId left = graph_[a.inputs[k]].initializer, right = graph_[b.inputs[k]].initializer;
    if (!left || !right || !graph_[left].literal || !graph_[right].literal) continue;
    if (graph_[left].role != TensorRole::kConstant) continue;
    if (*graph_[left].literal != *graph_[right].literal) return false;
  }
  return true;
}

void TemplateMap::finish(ModuleTree& tree) {
  follow_chains(nodes_);
  follow_chains(tensors_);
  follow_chains(values_);
  follow_chains(caches_);
  std::unordered_map<uint32_t, uint32_t> cache_of_value;
  for (uint32_t c = 0; c < graph_.caches.size(); ++c) {
    for (ValueId value : {graph_.caches[c].input, graph_.caches[c].output}) {
      if (value) cache_of_value.emplace(value.index, c);
    }
  }
  for (uint32_t c = 0; c < graph_.caches.size(); ++c) {
    uint32_t stands = caches_[c].index;
    const Cache& cache = graph_.caches[c];
    for (ValueId value : {cache.input, cache.output}) {
      if (!value || stands != c) continue;
      auto found = cache_of_value.find(values_[value.index].index);
      if (found != cache_of_value.end()) stands = found->second;
    }
    tree.template_of_cache.push_back(stands);
  }
  tree.template_of_node = std::move(nodes_);
  tree.template_of_initializer = std::move(tensors_);
  tree.template_of_value = std::move(values_);
}

}  // namespace kcharter
