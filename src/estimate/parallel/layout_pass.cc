#include "estimate/parallel/layout_pass.h"

#include <algorithm>

namespace kcharter {
namespace {

constexpr LayoutId kAnything = UINT32_MAX;

std::optional<Expr> bytes_of(const Graph& graph, ValueId value) {
  try {
    return byte_size(graph[value].type);
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

}  // namespace

LayoutPass::LayoutPass(const Graph& of_graph, const Operands& of_operands)
    : graph(of_graph), operands(of_operands) {
  result_.values.assign(graph.values.size(), kWholeLayout);
  result_.work.assign(graph.nodes.size(), kWholeLayout);
  result_.weights.assign(graph.initializers.size(), kWholeLayout);
  weight_set_.assign(graph.initializers.size(), false);
  result_.caches.assign(graph.caches.size(), kWholeLayout);
  wanted_.assign(graph.values.size(), kAnything);
}

int LayoutPass::rank(ValueId value) const {
  if (!value) return -1;
  const auto& shape = graph[value].type.shape;
  return shape ? static_cast<int>(shape->size()) : -1;
}

int64_t LayoutPass::size(ValueId value, int axis) const {
  const int dims = rank(value);
  if (axis < 0) axis += dims;
  if (axis < 0 || axis >= dims) return 0;
  const Dim& dim = (*graph[value].type.shape)[static_cast<size_t>(axis)];
  if (!dim || !dim->constant() || *dim->constant() < 0 || *dim->constant() > INT32_MAX) return 0;
  return static_cast<int64_t>(*dim->constant());
}

const Layout& LayoutPass::wanted(ValueId value) const {
  const LayoutId id = value ? wanted_[value.index] : kWholeLayout;
  return result_.table[id == kAnything ? kWholeLayout : id];
}

void LayoutPass::want(ValueId value, const Layout& layout) {
  if (!value || is_constant(value)) return;
  LayoutId& id = wanted_[value.index];
  if (id == kWholeLayout) return;
  id = result_.table.id_of(id == kAnything ? layout : common_split(result_.table[id], layout));
}

void LayoutPass::want_whole_but(const Node& node, const std::vector<size_t>& inputs) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (std::find(inputs.begin(), inputs.end(), i) == inputs.end()) want(node.inputs[i], {});
  }
}

void LayoutPass::set(ValueId value, const Layout& layout) {
  if (value) result_.values[value.index] = result_.table.id_of(layout);
}

void LayoutPass::set_work(const Node& node, const Layout& layout) {
  result_.work[static_cast<size_t>(&node - graph.nodes.data())] = result_.table.id_of(layout);
}

void LayoutPass::set_weight(InitializerId initializer, const Layout& layout) {
  if (graph[initializer].alias_of) initializer = graph[initializer].alias_of;
  LayoutId& id = result_.weights[initializer.index];
  // One tensor under two layouts is kept whole.
  const bool is_first = !weight_set_[initializer.index];
  id = result_.table.id_of(is_first ? layout : common_split(result_.table[id], layout));
  weight_set_[initializer.index] = true;
}

void LayoutPass::set_weight(ValueId value, const Layout& layout) {
  if (!value || !is_constant(value)) return;
  for (const InitializerId stored : source_of_constant(graph, value).stored) {
    set_weight(stored, layout);
  }
}

void LayoutPass::gather(ValueId value) {
  if (!value) return;
  const Layout& layout = of(value);
  if (layout.kind == LayoutKind::kWhole && !layout.routed) return;
  const ValueId memory = operands.memory_of(value);
  if (!gathered_.insert(memory.index).second || !graph[memory].producer) return;
  const bool is_partial = layout.kind == LayoutKind::kPartial;
  result_.transfers.push_back({is_partial ? Collective::kAllReduce : Collective::kAllGather,
                               graph[memory].producer, bytes_of(graph, value)});
}

void LayoutPass::gather_all(const Node& node) {
  for (const ValueId input : node.inputs) gather(input);
}

void LayoutPass::send(const Node& node, ValueId choice, Dim bytes) {
  const auto id = static_cast<uint32_t>(&node - graph.nodes.data());
  const bool is_back = choice == ValueId();
  if (!sent_.insert((uint64_t{is_back} << 32) | (is_back ? id : choice.index)).second) return;
  result_.transfers.push_back({Collective::kAllToAll, NodeId(id), std::move(bytes)});
}

void LayoutPass::want_outputs() {
  for (const ValueId output : graph.outputs) {
    if (!output || operands.is_cache(output)) continue;
    const int64_t width = size(output, -1);
    const bool can_split = rank(output) > 0 && width > 1;
    want(output,
         can_split ? split(rank(output) - 1, {{width, width}}, SplitUnit::kElement) : Layout{});
  }
}

void LayoutPass::set_caches() {
  for (const Cache& cache : graph.caches) {
    if (cache.input && is_split(wanted(cache.input))) set(cache.input, wanted(cache.input));
  }
}

void LayoutPass::finish() {
  for (const ValueId output : graph.outputs) {
    if (output && !operands.is_cache(output)) gather(output);
  }
  for (size_t i = 0; i < graph.caches.size(); ++i) {
    const Cache& cache = graph.caches[i];
    const ValueId kept = cache.output ? cache.output : cache.input;
    if (kept && is_split(of(kept))) result_.caches[i] = result_.values[kept.index];
  }
}

}  // namespace kcharter
