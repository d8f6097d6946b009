// Matrix products: 2 per multiply-add, over every broadcast batch.
#include "ops/dims.h"
#include "ops/registry.h"

namespace kcharter {
namespace {

// Each output element is a sum over the last axis of A, for every rank and broadcast of
// numpy.matmul.
Work matmul_work(const Graph& graph, const Node& node) {
  Dim inner = input_dim(graph, node, 0, -1);
  const Shape* b = input_shape(graph, node, 1);
  if (!inner && b != nullptr) inner = input_dim(graph, node, 1, b->size() == 1 ? 0 : -2);
  return {.flops = times(times(Expr(2), inner), output_elements(graph, node))};
}

}  // namespace

OperatorFamily linear_algebra_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "MatMul", {.work = matmul_work}},
  };
  return kEntries;
}

}  // namespace kcharter
