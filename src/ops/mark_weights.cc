#include "kcharter/ops/mark_weights.h"

#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

// Dynamic quantization multiplies the scale that it found for the activation by the stored scale of
// the weight.
bool scales_a_dynamic_scale(const Graph& graph, const Node& node, size_t input) {
  if (node.op_type != "Mul" || node.inputs.size() != 2) return false;
  ValueId other = node.inputs[1 - input];
  if (!other || !graph[other].producer) return false;
  const Node& producer = graph[graph[other].producer];
  return producer.op_type == "DynamicQuantizeLinear" && producer.outputs.size() > 1 &&
         producer.outputs[1] == other;
}

TensorPart part_read(const Graph& graph, const Node& node, size_t input,
                     TensorPart part_of_output) {
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  bool passes_on = info != nullptr && info->is_weight_transform;
  if (passes_on && part_of_output != TensorPart::kPlain && part_of_output != TensorPart::kPayload) {
    return part_of_output;
  }
  TensorPart part = tensor_part(node, input);
  // Rows of a quantized table are dequantized after they were gathered.
  bool gathers = node.op_type == "Gather" && part_of_output == TensorPart::kPayload;
  if (part == TensorPart::kPlain && (passes_on || gathers) && input == 0) return part_of_output;
  if (part == TensorPart::kPlain && scales_a_dynamic_scale(graph, node, input)) {
    return TensorPart::kScale;
  }
  return part;
}

}  // namespace

Model mark_weights(Model model) {
  Graph& graph = model.graph;
  std::vector<TensorPart> parts(graph.values.size(), TensorPart::kPlain);
  std::vector<std::optional<int64_t>> logical(graph.values.size());
  // Readers stand after what they read, so from the back a value's part is known at its producer.
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    ValueId first = node.outputs.empty() ? ValueId() : node.outputs[0];
    TensorPart part_of_output = first ? parts[first.index] : TensorPart::kPlain;
    const OperatorInfo* info = find_operator(node.domain, node.op_type);
    bool passes_on = info != nullptr && info->is_weight_transform;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k]) continue;
      uint32_t input = node.inputs[k].index;
      TensorPart part = part_read(graph, node, k, part_of_output);
      if (part != TensorPart::kPlain) parts[input] = part;
      std::optional<int64_t> elements = logical_elements(graph, node, k);
      if (!elements && passes_on && k == 0 && first) elements = logical[first.index];
      if (elements) logical[input] = elements;
    }
  }
  for (Initializer& initializer : graph.initializers) {
    if (!initializer.value) continue;
    uint32_t value = initializer.value.index;
    if (initializer.part == TensorPart::kPlain) initializer.part = parts[value];
    // Integers are constants unless they are the numbers of a quantized weight.
    bool is_matrix = initializer.dims.size() >= 2;
    if (initializer.part == TensorPart::kPayload && is_matrix) {
      initializer.role = TensorRole::kParameter;
    }
    if (!initializer.logical_elements) initializer.logical_elements = logical[value];
  }
  return model;
}

}  // namespace kcharter
