// ValueReaders: which nodes read each value, in execution order. An owner of bodies reads what its
// bodies yield. Exporters write a shared tensor once and an Identity of it for every other name;
// such an alias is no value of its own here: its readers read the tensor.
#pragma once

#include <span>
#include <vector>

#include "kcharter/model/graph.h"

namespace kcharter {

class ValueReaders {
 public:
  explicit ValueReaders(const Graph& graph);
  // Readers of a value and of its aliases, which themselves are not among them.
  std::span<const NodeId> of(ValueId value) const {
    return std::span(nodes_).subspan(begin_[value.index],
                                     begin_[value.index + 1] - begin_[value.index]);
  }
  // The tensor that an alias stands for; any other value itself.
  ValueId canonical(ValueId value) const { return canonical_[value.index]; }
  bool is_alias(NodeId node) const { return is_alias_[node.index]; }

 private:
  std::vector<uint32_t> begin_;
  std::vector<NodeId> nodes_;
  std::vector<ValueId> canonical_;
  std::vector<bool> is_alias_;
};

// A small constant whose payload is known (axes, scalars, indices). Exporters share equal ones
// between modules as it happens, so which constant it is says nothing of the wiring.
inline bool is_free_constant(const Graph& graph, ValueId value) {
  InitializerId tensor = graph[value].initializer;
  return tensor && graph[tensor].role == TensorRole::kConstant && graph[tensor].literal;
}

// Calls `use(value)` for each input of `node` that is there, then for each value its bodies yield.
template <typename Use>
void for_each_read(const Graph& graph, const Node& node, Use use) {
  for (ValueId value : node.inputs) {
    if (value) use(value);
  }
  for (RegionId body : node.bodies) {
    for (ValueId value : graph[body].outputs) {
      if (value) use(value);
    }
  }
}

}  // namespace kcharter
