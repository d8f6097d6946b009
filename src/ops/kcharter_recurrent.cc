// Layers with a state of one size for any length. The state stands last among inputs and outputs and is
// updated in place.
//
//   CausalConvolution(x [B,S,C], weight, bias?, past? [B,C,k-1] → y [B,S,C], present; kernel, channels)
//   GatedDeltaRule, KimiDeltaRule, LightningAttention, SelectiveScan, TimeMix
//       (x …, past? [B, state …] → y [B,S,width], present; state, width, products)
//
// A token decays the state, adds to it and reads it: `products` multiply-adds an element of the state
// (2; 3 under the delta rule, which reads it once more), and one elementwise operation, the decay.
#include "ops/common_work.h"

namespace kcharter {
namespace {

Dim rows(const Graph& graph, const Node& node) {
  return times(input_dim(graph, node, 0, 0), input_dim(graph, node, 0, 1));
}

Work convolution_work(const Graph& graph, const Node& node) {
  Expr channels(int_attribute(node, "channels", 0));
  return {.flops = times(rows(graph, node), 2 * Expr(int_attribute(node, "kernel", 0)) * channels)};
}

Work recurrence_work(const Graph& graph, const Node& node) {
  const auto* state = ints_attribute(node, "state");
  if (state == nullptr) return {.flops = std::nullopt, .elementwise_flops = std::nullopt};
  Expr elements(1);
  for (int64_t dim : *state) elements *= Expr(dim);
  Dim updates = times(rows(graph, node), elements);
  return {.flops = times(Expr(2 * int_attribute(node, "products", 2)), updates),
          .elementwise_flops = updates};
}

constexpr OperatorInfo kRecurrence{.is_recurrent = true, .work = recurrence_work};

}  // namespace

OperatorFamily kcharter_recurrent_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "CausalConvolution", {.is_recurrent = true, .work = convolution_work}},
      {kOurs, "GatedDeltaRule", kRecurrence},
      {kOurs, "KimiDeltaRule", kRecurrence},
      {kOurs, "LightningAttention", kRecurrence},
      {kOurs, "SelectiveScan", kRecurrence},
      {kOurs, "TimeMix", kRecurrence},
  };
  return kEntries;
}

}  // namespace kcharter
