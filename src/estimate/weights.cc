#include "estimate/weights.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "estimate/dense_experts.h"
#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

// By InitializerId: the largest share that one token uses, over all nodes that read it.
std::vector<Work::Share> active_shares(const Graph& graph) {
  std::vector<Work::Share> shares(graph.initializers.size());
  for (const Node& node : graph.nodes) {
    const OperatorInfo* info = find_operator(node.domain, node.op_type);
    if (info == nullptr || !info->selects_experts || info->work == nullptr) continue;
    Work work = info->work(graph, node);
    for (size_t i = 0; i < std::min(node.inputs.size(), work.active_share.size()); ++i) {
      if (!node.inputs[i]) continue;
      InitializerId stored = graph[node.inputs[i]].initializer;
      if (stored) shares[stored.index] = work.active_share[i];
    }
  }
  return shares;
}

// An exporter stores equal tensors once and gives each its name by an Identity. Matrices of two
// names are tied; equal vectors (norms of ones, biases of zeros) are parameters of their own, as
// the model's authors count them. Branches that name the same tensor mean the same one.
Int merged_vectors(const Graph& graph, Diagnostics& diagnostics) {
  Int merged = 0;
  std::string first;
  std::set<std::string_view> names;
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Identity" || node.inputs.size() != 1 || !node.inputs[0]) continue;
    if (node.outputs.empty() || !node.outputs[0]) continue;
    InitializerId stored = graph[node.inputs[0]].initializer;
    if (!stored || graph[stored].dims.size() != 1) continue;
    Int parameters = parameter_count(graph[stored]);
    if (parameters < 2 || !names.insert(graph[node.outputs[0]].name).second) continue;
    if (merged == 0) first = graph[stored].name;
    merged = checked_add(merged, parameters);
  }
  if (merged == 0) return 0;
  diagnostics.add(Severity::kNote, "equal-tensors-merged", "tensor '" + first + "'",
                  "equal vectors are stored once under several names: the parameters counted are " +
                      to_string(merged) + " more than are stored");
  return merged;
}

}  // namespace

Int element_total(const Initializer& initializer) {
  if (initializer.alias_of) return 0;
  Int total = 1;
  for (int64_t dim : initializer.dims) total = checked_mul(total, dim);
  return total;
}

Int resident_bytes(const Initializer& initializer) {
  return initializer.alias_of ? 0 : Int(initializer.stored_bytes);
}

Int parameter_count(const Initializer& initializer) {
  if (initializer.alias_of || initializer.role != TensorRole::kParameter) return 0;
  if (initializer.logical_elements) return *initializer.logical_elements;
  bool is_number =
      initializer.part == TensorPart::kPlain || initializer.part == TensorPart::kPayload;
  return is_number ? element_total(initializer) : 0;
}

void add_up_weights(const Model& model, const Operands& operands, Estimate& estimate) {
  const Graph& graph = model.graph;
  std::vector<Work::Share> shares = active_shares(graph);
  find_dense_experts(graph, operands, shares, estimate.diagnostics);
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    const Initializer& initializer = graph.initializers[i];
    if (initializer.alias_of) continue;
    Int parameters = parameter_count(initializer);
    estimate.parameters = checked_add(estimate.parameters, parameters);
    Int active = floor_div(checked_mul(parameters, shares[i].used), Int(shares[i].of));
    estimate.active_parameters = checked_add(estimate.active_parameters, active);
    estimate.stored_elements = checked_add(estimate.stored_elements, element_total(initializer));
    DTypeTotal& total = estimate.dtypes[std::string(name(initializer.dtype))];
    ++total.tensors;
    total.bytes = checked_add(total.bytes, resident_bytes(initializer));
    Int& part = estimate.weight_parts[std::string(name(initializer.part))];
    part = checked_add(part, resident_bytes(initializer));
  }
  Int merged = merged_vectors(graph, estimate.diagnostics);
  estimate.parameters = checked_add(estimate.parameters, merged);
  estimate.active_parameters = checked_add(estimate.active_parameters, merged);
  if (model.active_parameters) estimate.active_parameters = *model.active_parameters;
}

}  // namespace kcharter
