// Inference: what is known while shapes are inferred; NodeInference: what a rule sees of it.
//
// A rule is a function of one node. It reads the types and the known elements of its inputs and
// sets the types of its outputs; what it leaves unset stays unknown. It throws Error where the
// operands contradict the operator: the driver makes that a diagnostic and goes on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kcharter/model/model.h"
#include "shape/element.h"

namespace kcharter {

// nullptr where there are none, or too many to carry.
std::shared_ptr<const Elements> elements_of(const Literal& literal);

// What inference knows of a value beyond its type.
struct ValueFacts {
  // nullptr: nothing known of the numbers. Of a sequence: those of each of its tensors.
  std::shared_ptr<const Elements> elements;
  Dim sequence_length;  // of a sequence: how many tensors it holds
  // Of a short sequence: each tensor's type. The value's own type says what they have in common.
  std::shared_ptr<const std::vector<TensorType>> items;
  bool from_weights = false;  // computed from initializers alone
};

struct Inference {
  explicit Inference(Model& model);

  Model& model;
  Graph& graph;
  std::vector<ValueFacts> facts;  // by ValueId
  Bounds bounds;
  // Nodes of a branch that does not run report nothing.
  bool quiet = false;

  // A new free dimension: a number that depends on data (how many elements are not zero). Nodes
  // that differ in the digits of their names alone, such as a node of every layer, share one.
  // nullopt once a model has too many.
  Dim data_dependent_dim(const Node& node, size_t output, std::string_view what, int64_t minimum);

 private:
  std::unordered_map<std::string, Expr> data_dependent_;
};

class NodeInference {
 public:
  NodeInference(Inference& all, NodeId node_id)
      : inference(all), graph(all.graph), id(node_id), node(graph[node_id]) {}

  Inference& inference;
  Graph& graph;
  NodeId id;
  const Node& node;

  size_t input_count() const { return node.inputs.size(); }
  size_t output_count() const { return node.outputs.size(); }
  bool has_input(size_t i) const { return i < node.inputs.size() && node.inputs[i]; }
  bool has_output(size_t i) const { return i < node.outputs.size() && node.outputs[i]; }
  // An unknown type where the input is absent.
  const TensorType& input(size_t i) const;
  DType input_dtype(size_t i) const { return input(i).dtype; }
  // nullptr where the rank is not known.
  const Shape* input_shape(size_t i) const;
  // The one dimension, counted from the end if negative; nullopt where unknown.
  Dim input_dim(size_t i, int64_t axis) const;
  std::optional<int64_t> input_rank(size_t i) const;

  // nullptr where nothing is known of the numbers.
  const Elements* elements(size_t i) const;
  // All of them, as integers; nullopt where one is not known to be one.
  std::optional<std::vector<int64_t>> constants(size_t i) const;
  // The single element of a scalar or of a tensor of one element.
  MaybeElement scalar(size_t i) const;
  // An attribute of older versions, an input of newer ones (axes, split, pads, starts …).
  std::optional<std::vector<int64_t>> ints(std::string_view attribute, size_t input) const;
  bool from_weights(size_t i) const;

  void set(size_t output, DType dtype, std::optional<Shape> shape);
  void set(size_t output, TensorType type);
  void set_elements(size_t output, Elements elements);
  void set_sequence(size_t output, TensorType type, Dim length);
  // A sequence of which every tensor is known.
  void set_sequence(size_t output, std::vector<TensorType> items, DType dtype);
  Dim sequence_length(size_t input) const;
  const std::vector<TensorType>* items(size_t input) const;

  const Bounds& bounds() const { return inference.bounds; }
  bool at_least(const Dim& dim, int64_t minimum) const;
  // A sentence about this node that a reader of the document should see.
  void note(std::string_view code, std::string_view message) const;
  void warn(std::string_view code, std::string_view message) const;
  std::string subject() const;  // "node 'MatMul_12' (MatMul)"
};

// What two types have in common; a dimension or rank that differs is unknown.
TensorType common_type(const TensorType& a, const TensorType& b);

using ShapeRule = void (*)(NodeInference& node);

}  // namespace kcharter
