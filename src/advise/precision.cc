// Products in f32 among weights of 16 bits.
#include "advise/pattern.h"
#include "kcharter/estimate/operand_traffic.h"

namespace kcharter {
namespace {

// The type that most bytes of a 16-bit model are stored in; unknown: it is no such model.
DType narrow_type(const Estimate& estimate) {
  Int all = 0, narrow = 0;
  DType type = DType::kUnknown;
  for (const auto& [stored, total] : estimate.dtypes) {
    all += total.bytes;
    const auto dtype = parse_dtype(stored);
    if (!dtype || (*dtype != DType::kF16 && *dtype != DType::kBF16) || total.bytes <= narrow)
      continue;
    narrow = total.bytes;
    type = *dtype;
  }
  return 2 * narrow > all ? type : DType::kUnknown;
}

Quantity half_of(const Quantity& quantity) {
  if (!quantity.formula) return quantity;
  return {floor_div(*quantity.formula, Expr(2)), quantity.exactness, quantity.source};
}

}  // namespace

void find_precision_islands(const Wiring& wiring, const PatternText& pattern, Found&,
                            Collector& collector) {
  const DType narrow = narrow_type(wiring.estimate);
  if (narrow == DType::kUnknown) return;
  for (const NodeId id : wiring.nodes()) {
    if (wiring.operation(id) != Operation::kMatMul) continue;
    const NodeId of = wiring.tree.template_of_node[id.index];
    if (wiring.estimate.compute_dtypes[of.index] != DType::kF32) continue;
    FindingSite site;
    site.kernel = {id};
    site.computes_in = narrow;
    const Node& node = wiring.graph[id];
    for (const OperandTraffic& part : operand_traffic(wiring.graph, wiring.estimate.operands, id)) {
      const ValueId value = part.is_output ? node.outputs[part.operand] : node.inputs[part.operand];
      if (wiring.graph[value].type.dtype == DType::kF32)
        site.less.push_back({part.metric, half_of(part.bytes)});
    }
    collector.add(pattern, std::move(site), {id});
  }
}

}  // namespace kcharter
