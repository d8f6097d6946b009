// Our own operators that ONNX has no short word for: constants as attributes instead of inputs.
//
//   Reshape(x; shape)             0 keeps a dimension, -1 is the rest
//   Scale(x; factor)              x * factor
//   LastToken(x)                  [B, S, H] → [B, 1, H]
//   RotaryEmbedding(x; num_heads, head_dim, rotary_dim)   x [B, S, heads·head_dim]
//   RMSNormalization(x), LayerNormalization(x)            without learned scale
//   SliceLayer(x [B,S,count·size]; index, size)           [B, S, size], that of one layer
#include "ops/common_work.h"

namespace kcharter {
namespace {

// Two multiply-adds for each pair of rotated elements, counted as three operations an element.
Work rotary_work(const Graph& graph, const Node& node) {
  int64_t heads = int_attribute(node, "num_heads", 0);
  int64_t rotated = int_attribute(node, "rotary_dim", 0);
  Dim rows = times(input_dim(graph, node, 0, 0), input_dim(graph, node, 0, 1));
  return {.elementwise_flops = times(rows, Expr(3) * Expr(heads) * Expr(rotated))};
}

}  // namespace

OperatorFamily kcharter_basic_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "Reshape", {.is_view = true}},
      {kOurs, "Scale", {}},
      {kOurs, "SliceLayer", {.work = reads_what_it_writes}},
      {kOurs, "LastToken", {.work = reads_what_it_writes}},
      {kOurs, "RotaryEmbedding", {.work = rotary_work}},
      {kOurs, "RMSNormalization", {.work = per_output_element<3>}},
      {kOurs, "LayerNormalization", {.work = per_output_element<5>}},
  };
  return kEntries;
}

}  // namespace kcharter
