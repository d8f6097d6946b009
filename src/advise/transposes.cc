// Transposes that undo each other, or that a product could read through.
#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr int kMostHops = 8;
using Axes = std::vector<int64_t>;

const Axes* axes_of(const Wiring& wiring, NodeId node) {
  return wiring.operation(node) == Operation::kTranspose
             ? ints_attribute(wiring.graph[node], "perm")
             : nullptr;
}

bool undo_each_other(const Axes& first, const Axes& second) {
  if (first.size() != second.size()) return false;
  for (size_t i = 0; i < second.size(); ++i) {
    const int64_t middle = second[i];
    if (middle < 0 || middle >= static_cast<int64_t>(first.size()) ||
        first[static_cast<size_t>(middle)] != static_cast<int64_t>(i)) {
      return false;
    }
  }
  return true;
}

bool swaps_last_two(const Axes& axes) {
  const int64_t rank = static_cast<int64_t>(axes.size());
  if (rank < 2 || axes[axes.size() - 1] != rank - 2 || axes[axes.size() - 2] != rank - 1)
    return false;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    if (axes[static_cast<size_t>(i)] != i) return false;
  }
  return true;
}

bool is_scalar(const Graph& graph, ValueId value) {
  return element_count(graph[value].type) == Dim(Expr(1));
}

// The transpose that `second` undoes, elementwise operators with scalars between them.
NodeId undone_by(const Wiring& wiring, NodeId second, const Axes& axes) {
  ValueId at = wiring.graph[second].inputs[0];
  for (int hops = 0; hops < kMostHops && at; ++hops) {
    const NodeId maker = wiring.graph[at].producer;  // a view in between changes the axes
    if (!maker || !wiring.is_seen(maker) || !wiring.only_reader(at)) return NodeId();
    if (const Axes* first = axes_of(wiring, maker)) {
      return undo_each_other(*first, axes) ? maker : NodeId();
    }
    if (!is_elementwise(wiring.operation(maker))) return NodeId();
    const Node& node = wiring.graph[maker];
    for (const ValueId input : node.inputs) {
      if (input && wiring.is_constant(input) && !is_scalar(wiring.graph, input)) return NodeId();
    }
    at = wiring.only_activation(node);
  }
  return NodeId();
}

}  // namespace

void find_cancelling_transposes(const Wiring& wiring, const PatternText& pattern, Found&,
                                Collector& collector) {
  for (const NodeId second : wiring.nodes()) {
    const Axes* axes = axes_of(wiring, second);
    if (axes == nullptr) continue;
    const NodeId first = undone_by(wiring, second, *axes);
    if (first) collector.add(pattern, remove(wiring, {first, second}), {first, second});
  }
}

void find_transposed_operands(const Wiring& wiring, const PatternText& pattern, Found&,
                              Collector& collector) {
  for (const NodeId transpose : wiring.nodes()) {
    const Axes* axes = axes_of(wiring, transpose);
    if (axes == nullptr || !swaps_last_two(*axes)) continue;
    const ValueId output = wiring.graph[transpose].outputs[0];
    const NodeId product = wiring.only_reader(output);
    if (!product || wiring.operation(product) != Operation::kMatMul) continue;
    bool is_direct = false;
    for (const ValueId input : wiring.graph[product].inputs) is_direct |= input == output;
    if (is_direct) collector.add(pattern, fuse(wiring, {transpose, product}), {transpose, product});
  }
}

}  // namespace kcharter
