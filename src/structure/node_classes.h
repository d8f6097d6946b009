// NodeClasses: which nodes are equal when their wiring is left aside: operator, attributes, types,
// stored sizes, caches, bodies. What may differ within a class: names, the payload of Constant
// nodes and of small constant tensors (their types are equal, and what they steer is in other
// types).
#pragma once

#include <vector>

#include "kcharter/model/graph.h"
#include "structure/interner.h"
#include "structure/value_readers.h"

namespace kcharter {

class NodeClasses {
 public:
  NodeClasses(const Graph& graph, const ValueReaders& readers);
  uint32_t of(NodeId node) const { return classes_[node.index]; }
  // The class of a tensor nobody reads, and of a cache.
  uint32_t of(InitializerId tensor) const { return tensor_classes_[tensor.index]; }
  uint32_t of_cache(uint32_t cache) const { return cache_classes_[cache]; }

 private:
  void classify_tensors();
  void classify_caches();
  uint32_t type_class(const TensorType& type);
  uint32_t dim_class(const Dim& dim);
  uint32_t value_class(ValueId value, bool produced);
  uint32_t attribute_class(const Node& node);
  uint32_t classify(const Node& node);

  const Graph& graph_;
  const ValueReaders& readers_;
  Interner keys_;
  StringInterner strings_;
  std::vector<uint32_t> tensor_classes_, cache_classes_, classes_;
  std::vector<uint32_t> cache_of_value_;  // class + 1; 0: none
  std::unordered_map<Expr, uint32_t> dims_;
};

// A node whose attribute is its output's payload (Constant).
bool is_constant_node(const Node& node);

}  // namespace kcharter
