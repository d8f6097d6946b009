// Work that many operators share.
#pragma once

#include "kcharter/ops/dims.h"
#include "ops/registry.h"

namespace kcharter {

// Data movement: every operand once, no arithmetic.
inline Work moves_data(const Graph&, const Node&) { return {}; }

// Reads of its first input only what it writes: slices, gathers of elements.
inline Work reads_what_it_writes(const Graph& graph, const Node& node) {
  return {.read_elements = {output_elements(graph, node)}};
}

template <int kOperations>
Work per_output_element(const Graph& graph, const Node& node) {
  return {.elementwise_flops = times(Expr(kOperations), output_elements(graph, node))};
}

template <int kOperations>
Work per_input_element(const Graph& graph, const Node& node) {
  return {.elementwise_flops = times(Expr(kOperations), input_elements(graph, node, 0))};
}

// One letter an input: '.' plain, 'p' payload, 's' scale, 'z' zero point, 'm' metadata.
constexpr TensorPart part_at(std::string_view letters, size_t input) {
  if (input >= letters.size()) return TensorPart::kPlain;
  switch (letters[input]) {
    case 'p':
      return TensorPart::kPayload;
    case 's':
      return TensorPart::kScale;
    case 'z':
      return TensorPart::kZeroPoint;
    case 'm':
      return TensorPart::kMetadata;
    default:
      return TensorPart::kPlain;
  }
}

}  // namespace kcharter
