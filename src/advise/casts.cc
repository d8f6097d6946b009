// Casts that change nothing, or there and back.
#include "advise/pattern.h"

namespace kcharter {
namespace {

struct Range {
  int exponent = 0;  // bits of the exponent of a float; 0: an integer
  int digits = 0;    // bits of a number without loss
  bool is_signed = true;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return {11, 53, true};
    case DType::kF32:
      return {8, 24, true};
    case DType::kF16:
      return {5, 11, true};
    case DType::kBF16:
      return {8, 8, true};
    case DType::kInt64:
      return {0, 63, true};
    case DType::kInt32:
      return {0, 31, true};
    case DType::kInt16:
      return {0, 15, true};
    case DType::kInt8:
      return {0, 7, true};
    case DType::kUInt64:
      return {0, 64, false};
    case DType::kUInt32:
      return {0, 32, false};
    case DType::kUInt16:
      return {0, 16, false};
    case DType::kUInt8:
      return {0, 8, false};
    case DType::kBool:
      return {0, 1, false};
    default:
      return {};
  }
}

// Whether every number of `narrow` is one of `wide`.
bool holds(DType wide, DType narrow) {
  if (wide == narrow) return true;
  const Range a = range_of(wide), b = range_of(narrow);
  if (a.digits == 0 || b.digits == 0 || a.digits < b.digits) return false;
  if (a.exponent > 0) return a.exponent >= b.exponent;
  return b.exponent == 0 && (a.is_signed || !b.is_signed);
}

DType type_in(const Wiring& wiring, NodeId node) {
  return wiring.graph[wiring.graph[node].inputs[0]].type.dtype;
}
DType type_out(const Wiring& wiring, NodeId node) {
  return wiring.graph[wiring.graph[node].outputs[0]].type.dtype;
}
bool is_cast(const Wiring& wiring, NodeId node) {
  return node && wiring.operation(node) == Operation::kCast && !wiring.graph[node].outputs.empty();
}

void add_pair(const Wiring& wiring, const PatternText& pattern, NodeId first, NodeId second,
              Collector& collector) {
  const DType from = type_in(wiring, first), middle = type_out(wiring, first);
  const bool is_alone = wiring.only_reader(wiring.graph[first].outputs[0]) == second;
  if (!holds(middle, from)) return;  // the middle loses digits, on purpose or not
  if (type_out(wiring, second) == from) {
    std::vector<NodeId> gone =
        is_alone ? std::vector<NodeId>{first, second} : std::vector<NodeId>{second};
    collector.add(pattern, remove(wiring, gone), {first, second}, "there and back");
  } else if (is_alone) {
    collector.add(pattern, fuse(wiring, {first, second}), {first, second}, "in two steps");
  }
}

// 16 bits → f32, one sum or product, → 16 bits.
void add_island(const Wiring& wiring, const PatternText& pattern, NodeId down, Found& found,
                Collector& collector) {
  const NodeId op = wiring.maker(wiring.graph[down].inputs[0]);
  if (!op || found.is_taken[op.index] || wiring.only_reader(wiring.graph[op].outputs[0]) != down)
    return;
  const Operation operation = wiring.operation(op);
  if (operation != Operation::kAdd && operation != Operation::kMul) return;
  std::vector<NodeId> nodes{op, down};
  for (const ValueId input : wiring.graph[op].inputs) {
    if (!input || wiring.is_constant(input)) continue;
    const NodeId up = wiring.maker(input);
    if (!is_cast(wiring, up) || type_in(wiring, up) != type_out(wiring, down) ||
        !holds(type_out(wiring, up), type_in(wiring, up)) || wiring.only_reader(input) != op) {
      return;
    }
    nodes.push_back(up);
  }
  if (nodes.size() < 3) return;
  for (const NodeId node : nodes) found.is_taken[node.index] = true;
  collector.add(pattern, fuse(wiring, nodes), nodes, "around one operator");
}

}  // namespace

void find_redundant_casts(const Wiring& wiring, const PatternText& pattern, Found& found,
                          Collector& collector) {
  for (const NodeId cast : wiring.nodes()) {
    if (!is_cast(wiring, cast) || found.is_taken[cast.index] || !wiring.graph[cast].inputs[0])
      continue;
    const DType to = type_out(wiring, cast);
    if (to == DType::kUnknown) continue;
    if (type_in(wiring, cast) == to) {
      collector.add(pattern, remove(wiring, {cast}), {cast}, "to the type it has");
      continue;
    }
    const NodeId before = wiring.maker(wiring.graph[cast].inputs[0]);
    if (is_cast(wiring, before) && type_in(wiring, before) != type_out(wiring, before)) {
      add_pair(wiring, pattern, before, cast, collector);
    } else {
      add_island(wiring, pattern, cast, found, collector);
    }
  }
}

}  // namespace kcharter
