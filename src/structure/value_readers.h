// ValueReaders: which nodes read each value, in execution order. An owner of bodies reads what its
// bodies yield.
#pragma once

#include <span>
#include <vector>

#include "kcharter/model/graph.h"

namespace kcharter {

class ValueReaders {
 public:
  explicit ValueReaders(const Graph& graph);
  std::span<const NodeId> of(ValueId value) const {
    return std::span(nodes_).subspan(begin_[value.index],
                                     begin_[value.index + 1] - begin_[value.index]);
  }

 private:
  std::vector<uint32_t> begin_;
  std::vector<NodeId> nodes_;
};

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
