// Numbers dequantized and quantized again with the same scale.
#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr int kMostHops = 4;

// Moves numbers without changing them, so that it could move the quantized ones.
bool only_moves(Operation op) {
  return op == Operation::kTranspose || op == Operation::kSlice || op == Operation::kMaxPool;
}

bool is_same(const Wiring& wiring, const Node& a, const Node& b, size_t input) {
  const ValueId first = input < a.inputs.size() ? a.inputs[input] : ValueId();
  const ValueId second = input < b.inputs.size() ? b.inputs[input] : ValueId();
  if (!first || !second) return !first && !second;
  return wiring.root(first) == wiring.root(second);
}

// Scale, zero point, axis and type: with another of any it is a rescaling, which must stay.
bool is_undone(const Wiring& wiring, const Node& dequantize, const Node& quantize) {
  return is_same(wiring, dequantize, quantize, 1) && is_same(wiring, dequantize, quantize, 2) &&
         int_attribute(dequantize, "axis", 1) == int_attribute(quantize, "axis", 1) &&
         int_attribute(dequantize, "block_size", 0) == int_attribute(quantize, "block_size", 0) &&
         wiring.graph[dequantize.inputs[0]].type.dtype ==
             wiring.graph[quantize.outputs[0]].type.dtype;
}

}  // namespace

void find_requantized(const Wiring& wiring, const PatternText& pattern, Found&,
                      Collector& collector) {
  for (const NodeId quantize : wiring.nodes()) {
    if (wiring.operation(quantize) != Operation::kQuantize) continue;
    const Node& last = wiring.graph[quantize];
    ValueId at = last.inputs[0];
    bool is_alone = true;
    for (int hops = 0; hops < kMostHops && at; ++hops) {
      const NodeId maker = wiring.maker(at);
      if (!maker) break;
      is_alone = is_alone && wiring.only_reader(at);
      const Node& node = wiring.graph[maker];
      if (only_moves(wiring.operation(maker)) && is_alone) {
        at = node.inputs[0];
        continue;
      }
      if (wiring.operation(maker) != Operation::kDequantize || !is_undone(wiring, node, last))
        break;
      if (hops > 0 && !is_alone) break;
      std::vector<NodeId> gone =
          is_alone ? std::vector<NodeId>{maker, quantize} : std::vector<NodeId>{quantize};
      collector.add(pattern, remove(wiring, gone), {maker, quantize});
      break;
    }
  }
}

}  // namespace kcharter
