// Matrices stored in parts: payload, scales, zero points, as their formats say.
//
//   QuantizedMatMul(x [B,S,in], parts … → [B,S,out]; in, out)
//   QuantizedGather(ids, parts … → [.., size]; rows, size)
#include "ops/common_work.h"

namespace kcharter {
namespace {

Work quantized_matmul_work(const Graph& graph, const Node& node) {
  return {.flops = times(Expr(2 * int_attribute(node, "out", 0)), input_elements(graph, node, 0))};
}

// Of every part the share that the rows fetched are of all rows.
Work quantized_gather_work(const Graph& graph, const Node& node) {
  int64_t rows = int_attribute(node, "rows", 0);
  Dim ids = input_elements(graph, node, 0);
  Work work{.elementwise_flops = times(Expr(2), output_elements(graph, node)), .read_elements = {ids}};
  if (rows <= 0) return work;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    Dim all = input_elements(graph, node, i);
    work.read_elements.push_back(all ? times(ids, floor_div(*all, Expr(rows))) : Dim());
  }
  return work;
}

}  // namespace

OperatorFamily kcharter_quantized_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "QuantizedMatMul", {.work = quantized_matmul_work}},
      {kOurs, "QuantizedGather", {.work = quantized_gather_work}},
  };
  return kEntries;
}

}  // namespace kcharter
