#include "structure/module_classes.h"

#include <algorithm>

namespace kcharter {
namespace {

// The first word of a key: nodes and modules must never share a class.
enum KeyKind : uint32_t { kNodeKey, kModuleKey };

std::string_view relative_name(std::string_view name, std::string_view path) {
  if (!path.empty() && name.starts_with(path)) return name.substr(path.size());
  return name.substr(name.find_last_of("./") + 1);
}

}  // namespace

ModuleClasses::ModuleClasses(const Graph& graph, const ValueReaders& readers,
                             const Outline& outline)
    : graph_(graph),
      readers_(readers),
      outline_(outline),
      node_classes_(graph, readers),
      interfaces_(outline.modules.size()),
      local_(graph.values.size()),
      stamp_(graph.values.size(), UINT32_MAX) {
  find_homes();
  list_node_values();
  for (auto m = static_cast<uint32_t>(outline.modules.size()); m-- > 0;) classify(m);
}

void ModuleClasses::find_homes() {
  const std::vector<OutlineModule>& modules = outline_.modules;
  std::vector<uint32_t> home(graph_.values.size(), UINT32_MAX);
  auto use = [&](ValueId value, uint32_t module) {
    uint32_t& at = home[value.index];
    if (at == UINT32_MAX) at = module;
    while (at != module) {
      if (modules[at].depth >= modules[module].depth)
        at = modules[at].parent;
      else
        module = modules[module].parent;
    }
  };
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    uint32_t module = outline_.module_of_node[n];
    if (readers_.is_alias(NodeId(n))) continue;
    for_each_read(graph_, node, [&](ValueId value) { use(readers_.canonical(value), module); });
    for (ValueId output : node.outputs) {
      if (output) use(output, module);
    }
    for (RegionId body : node.bodies) {
      for (ValueId input : graph_[body].inputs) {
        if (input) use(input, module);
      }
    }
  }
  // Inputs and outputs of the graph are used outside of all modules; a cache is its reader's own.
  std::vector<bool> is_cache_input(graph_.values.size());
  for (const Cache& cache : graph_.caches) {
    if (cache.input) is_cache_input[cache.input.index] = true;
  }
  for (ValueId input : graph_.inputs) {
    if (input && !is_cache_input[input.index]) use(input, 0);
  }
  for (ValueId output : graph_.outputs) {
    if (output) use(readers_.canonical(output), 0);
  }
  home_depth_.resize(graph_.values.size());
  for (size_t v = 0; v < home.size(); ++v) {
    home_depth_[v] = home[v] == UINT32_MAX ? 0 : modules[home[v]].depth;
  }
}

void ModuleClasses::list_node_values() {
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    inputs_begin_.push_back(static_cast<uint32_t>(node_values_.size()));
    if (readers_.is_alias(NodeId(n))) {
      outputs_begin_.push_back(static_cast<uint32_t>(node_values_.size()));
      continue;
    }
    for_each_read(graph_, node, [&](ValueId value) {
      if (!is_free_constant(graph_, value)) node_values_.push_back(readers_.canonical(value));
    });
    for (RegionId body : node.bodies) {
      for (ValueId input : graph_[body].inputs) {
        if (input) node_values_.push_back(input);
      }
    }
    outputs_begin_.push_back(static_cast<uint32_t>(node_values_.size()));
    for (ValueId output : node.outputs) {
      if (output) node_values_.push_back(output);
    }
  }
  inputs_begin_.push_back(static_cast<uint32_t>(node_values_.size()));
}

ItemView ModuleClasses::view(const ModuleItem& item) const {
  if (item.module) {
    const Interface& face = interfaces_[item.module.index];
    return {face.class_id, true, face.inputs, face.outputs};
  }
  uint32_t n = item.node.index;
  std::span<const ValueId> values(node_values_);
  return {node_classes_.of(item.node) * 2 + kNodeKey, false,
          values.subspan(inputs_begin_[n], outputs_begin_[n] - inputs_begin_[n]),
          values.subspan(outputs_begin_[n], inputs_begin_[n + 1] - outputs_begin_[n])};
}

std::vector<InitializerId> ModuleClasses::unread_tensors(uint32_t module) const {
  const OutlineModule& own = outline_.modules[module];
  std::vector<InitializerId> unread;
  for (InitializerId tensor : own.initializers) {
    ValueId value = graph_[tensor].value;
    if (!value || readers_.of(value).empty()) unread.push_back(tensor);
  }
  std::sort(unread.begin(), unread.end(), [&](InitializerId a, InitializerId b) {
    std::string_view left = relative_name(graph_[a].name, own.path);
    std::string_view right = relative_name(graph_[b].name, own.path);
    return left != right ? left < right : a < b;
  });
  return unread;
}

void ModuleClasses::classify(uint32_t m) {
  const OutlineModule& module = outline_.modules[m];
  Interface& face = interfaces_[m];
  std::vector<uint32_t> key = {static_cast<uint32_t>(module.items.size())};
  std::vector<ValueId> made;
  uint32_t next = 0;
  auto is_new = [&](ValueId value) { return stamp_[value.index] != m; };
  auto number = [&](ValueId value) {
    stamp_[value.index] = m;
    local_[value.index] = next++;
  };
  for (const ModuleItem& item : module.items) {
    ItemView view = this->view(item);
    key.push_back(view.class_id);
    for (ValueId value : view.inputs) {
      if (is_new(value)) {
        number(value);
        if (is_used_outside(value, m)) face.inputs.push_back(value);
      }
      key.push_back(local_[value.index]);
    }
    for (ValueId value : view.outputs) {
      if (is_new(value)) number(value);
      made.push_back(value);
    }
  }
  for (ValueId value : face.inputs) key.push_back(local_[value.index]);
  key.push_back(UINT32_MAX);
  for (ValueId value : made) {
    if (!is_used_outside(value, m)) continue;
    face.outputs.push_back(value);
    key.push_back(local_[value.index]);
  }
  key.push_back(UINT32_MAX);
  size_t own = key.size();
  for (InitializerId tensor : module.initializers) {
    ValueId value = graph_[tensor].value;
    if (value && stamp_[value.index] == m) key.push_back(local_[value.index]);
  }
  std::sort(key.begin() + static_cast<std::ptrdiff_t>(own), key.end());
  key.push_back(UINT32_MAX);
  for (InitializerId tensor : unread_tensors(m)) {
    key.push_back(node_classes_.of(tensor));
    key.push_back(strings_.id(std::string(relative_name(graph_[tensor].name, module.path))));
  }
  key.push_back(UINT32_MAX);
  for (uint32_t cache : module.caches) {
    key.push_back(node_classes_.of_cache(cache));
    for (ValueId value : {graph_.caches[cache].input, graph_.caches[cache].output}) {
      key.push_back(value && stamp_[value.index] == m ? local_[value.index] : UINT32_MAX);
    }
  }
  face.class_id = keys_.id(key) * 2 + kModuleKey;
}

}  // namespace kcharter
