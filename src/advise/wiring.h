// Wiring: who makes and who reads each value of a graph, as the patterns ask it.
//
// Views, shape arithmetic and what is computed at load are looked through: a value's maker is the
// node that filled its memory, its readers are the nodes that move it. Of nodes that compute the
// same from the same (common sub-expressions) only the first is seen; the others are `duplicates`.
#pragma once

#include <span>
#include <vector>

#include "advise/operation.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

class Wiring {
 public:
  Wiring(const Model& model, const ModuleTree& tree, const Estimate& estimate);

  const Model& model;
  const Graph& graph;
  const ModuleTree& tree;
  const Estimate& estimate;

  // Nodes that run and move something, duplicates not among them, in execution order.
  std::span<const NodeId> nodes() const { return nodes_; }
  Operation operation(NodeId node) const { return operations_[node.index]; }
  // The first node that computes the same; none: it is the first itself.
  NodeId duplicate_of(NodeId node) const { return duplicate_of_[node.index]; }
  // Whether its region runs and it is no dead end of ours: seen by the patterns.
  bool is_seen(NodeId node) const { return seen_[node.index]; }

  // Whether it is computed from weights alone, even where the estimate runs that each step.
  bool is_constant(ValueId value) const { return weights_->constant[value.index]; }
  bool is_folded(NodeId node) const { return weights_->folded[node.index]; }
  // The value whose memory it is, duplicates counted as one.
  ValueId root(ValueId value) const { return root_[value.index]; }
  // The node that fills its memory; none: an input, a constant, or made where nothing is seen.
  NodeId maker(ValueId value) const;
  // Each once, in execution order.
  std::span<const NodeId> readers(ValueId value) const;
  // Read from outside: an output of the graph or of a region, or kept in a cache.
  bool escapes(ValueId value) const { return escapes_[root(value).index]; }
  // Its only reader, where nobody else reads it; else none.
  NodeId only_reader(ValueId value) const;

  // The input that is no constant, where there is exactly one; else none.
  ValueId only_activation(const Node& node) const;
  // Product of an activation (input 0) and a weight (input 1).
  bool is_weight_product(NodeId node) const;
  // Product of two activations.
  bool is_activation_product(NodeId node) const;

 private:
  void see_nodes();
  void find_roots();
  void list_readers();

  Operands own_;  // where the estimate folds nothing
  const Operands* weights_;
  std::vector<Operation> operations_;
  std::vector<NodeId> nodes_;
  std::vector<bool> seen_;
  std::vector<NodeId> duplicate_of_;
  std::vector<ValueId> root_;
  std::vector<bool> escapes_;
  std::vector<uint32_t> first_reader_;  // by ValueId of a root, into readers_
  std::vector<uint32_t> end_of_readers_;
  std::vector<NodeId> readers_;
};

}  // namespace kcharter
