// Convolutions: each output element of Conv is a sum over one filter, each input element of
// ConvTranspose is spread over one.
#include "ops/dims.h"
#include "ops/registry.h"

namespace kcharter {
namespace {

Work conv_work(const Graph& graph, const Node& node) {
  const Shape* filter = input_shape(graph, node, 1);
  Dim taps = filter == nullptr ? Dim() : product(*filter, 1, filter->size());
  Dim outputs = output_elements(graph, node);
  return {.flops = times(times(Expr(2), taps), outputs),
          .elementwise_flops = has_input(node, 2) ? outputs : Dim(Expr(0))};
}

}  // namespace

OperatorFamily convolution_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Conv", {.work = conv_work}},
  };
  return kEntries;
}

}  // namespace kcharter
