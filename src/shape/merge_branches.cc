#include "shape/merge_branches.h"

#include <string>
#include <string_view>

namespace kcharter {
namespace {

TensorType merged_type(Inference& inference, NodeId owner, size_t output, const TensorType& a,
                       const TensorType& b) {
  TensorType merged = common_type(a, b);
  for (size_t axis = 0; merged.shape && axis < merged.shape->size(); ++axis) {
    Dim& dim = (*merged.shape)[axis];
    if (dim || !(*a.shape)[axis] || !(*b.shape)[axis]) continue;
    dim = inference.data_dependent_dim(inference.graph[owner], output,
                                       "dimension_" + std::to_string(axis), 0);
  }
  return merged;
}

ValueFacts merged_facts(const ValueFacts& a, const ValueFacts& b) {
  ValueFacts merged;
  const bool same_elements =
      a.elements != nullptr && b.elements != nullptr && *a.elements == *b.elements;
  if (same_elements) merged.elements = a.elements;
  if (a.sequence_length == b.sequence_length) merged.sequence_length = a.sequence_length;
  merged.from_weights = a.from_weights && b.from_weights;
  return merged;
}

std::string_view made_by(const Graph& graph, ValueId value) {
  return value && graph[value].producer ? std::string_view(graph[graph[value].producer].op_type)
                                        : std::string_view();
}

}  // namespace

void merge_branches(Inference& inference, NodeId owner, const std::vector<RegionId>& branches) {
  Graph& graph = inference.graph;
  const Node& node = graph[owner];
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i]) continue;
    bool first = true;
    TensorType type;
    ValueFacts facts;
    for (const RegionId branch : branches) {
      const std::vector<ValueId>& outputs = graph[branch].outputs;
      if (i >= outputs.size() || !outputs[i]) continue;
      const TensorType& given = graph[outputs[i]].type;
      const ValueFacts& known = inference.facts[outputs[i].index];
      type = first ? given : merged_type(inference, owner, i, type, given);
      facts = first ? known : merged_facts(facts, known);
      first = false;
    }
    graph[node.outputs[i]].type = std::move(type);
    inference.facts[node.outputs[i].index] = std::move(facts);
  }
}

bool is_squeeze(const Inference& inference, NodeId owner) {
  const Graph& graph = inference.graph;
  const Node& node = graph[owner];
  if (node.bodies.size() != 2) return false;
  const std::vector<ValueId>& squeezed = graph[node.bodies[0]].outputs;
  const std::vector<ValueId>& kept = graph[node.bodies[1]].outputs;
  return squeezed.size() == 1 && kept.size() == 1 && made_by(graph, squeezed[0]) == "Squeeze" &&
         made_by(graph, kept[0]) == "Identity";
}

}  // namespace kcharter
