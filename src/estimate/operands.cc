#include "kcharter/estimate/operands.h"

#include <algorithm>

#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

// A chain of transforms of one weight is short; what is longer is kept as computed.
constexpr int kMaxTransforms = 64;

bool elements_known(const Graph& graph, const Node& node) {
  bool any = false;
  for (ValueId output : node.outputs) {
    if (!output) continue;
    if (graph[output].elements == nullptr) return false;
    any = true;
  }
  return any;
}

// The outputs of an If are those of the branch that runs.
void join_branches(const Graph& graph, const Node& node, Operands& operands) {
  for (RegionId body : node.bodies) {
    const Region& region = graph[body];
    if (region.runs == RegionRuns::kNo) continue;
    size_t count = std::min(region.outputs.size(), node.outputs.size());
    for (size_t i = 0; i < count; ++i) {
      ValueId inner = region.outputs[i];
      if (!inner || !node.outputs[i] || operands.constant[inner.index]) continue;
      // A value of an outer region keeps its own life: the branch only passes it on.
      ValueId& memory = operands.memory[node.outputs[i].index];
      if (memory == node.outputs[i]) memory = operands.memory[inner.index];
    }
  }
}

void mark_caches(const Graph& graph, Operands& operands) {
  operands.cache_in.assign(graph.values.size(), kNoCache);
  operands.cache_out.assign(graph.values.size(), kNoCache);
  for (uint32_t i = 0; i < graph.caches.size(); ++i) {
    const Cache& cache = graph.caches[i];
    if (cache.input) operands.cache_in[operands.memory_of(cache.input).index] = i;
    if (cache.output) operands.cache_out[operands.memory_of(cache.output).index] = i;
  }
}

}  // namespace

Operands classify_operands(const Graph& graph, bool as_exported) {
  Operands operands;
  operands.folded.assign(graph.nodes.size(), false);
  operands.is_view.assign(graph.nodes.size(), false);
  operands.on_host.assign(graph.nodes.size(), false);
  operands.constant.assign(graph.values.size(), false);
  operands.memory.resize(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) {
    operands.memory[i] = ValueId(i);
    operands.constant[i] = static_cast<bool>(graph.values[i].initializer);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const OperatorInfo* info = find_operator(node.domain, node.op_type);
    if (info != nullptr && node.bodies.empty() && !info->is_random && !as_exported) {
      operands.folded[i] = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
        return !input || operands.constant[input.index];
      });
    }
    if (operands.folded[i]) {
      for (ValueId output : node.outputs) {
        if (output) operands.constant[output.index] = true;
      }
      continue;
    }
    operands.on_host[i] = (info != nullptr && info->is_shape_arithmetic) ||
                          (node.bodies.empty() && elements_known(graph, node));
    operands.is_view[i] = info != nullptr && info->is_view;
    if (operands.is_view[i] && !node.inputs.empty() && node.inputs[0] && !node.outputs.empty() &&
        node.outputs[0] && !operands.constant[node.inputs[0].index]) {
      operands.memory[node.outputs[0].index] = operands.memory[node.inputs[0].index];
    }
    if (node.op_type == "If" && node.domain.empty()) join_branches(graph, node, operands);
  }
  mark_caches(graph, operands);
  return operands;
}

ConstantSource source_of_constant(const Graph& graph, ValueId value) {
  ConstantSource source;
  std::vector<ValueId> pending{value};
  for (int transforms = 0; !pending.empty(); ++transforms) {
    ValueId current = pending.back();
    pending.pop_back();
    const Value& known = graph[current];
    if (known.initializer) {
      InitializerId stored = known.initializer;
      if (graph[stored].alias_of) stored = graph[stored].alias_of;
      source.stored.push_back(stored);
      source.stored_bytes = checked_add(source.stored_bytes, graph[stored].stored_bytes);
      continue;
    }
    if (!known.producer || transforms > kMaxTransforms) return {};
    const Node& node = graph[known.producer];
    const OperatorInfo* info = find_operator(node.domain, node.op_type);
    if (info == nullptr || !info->is_weight_transform) return {};
    // DequantizeLinear: data, scale, zero point; the second input of the others is a shape or axes.
    size_t operands = node.op_type.ends_with("DequantizeLinear") ? node.inputs.size() : 1;
    for (size_t i = 0; i < std::min(operands, node.inputs.size()); ++i) {
      if (node.inputs[i]) pending.push_back(node.inputs[i]);
    }
  }
  return source;
}

}  // namespace kcharter
