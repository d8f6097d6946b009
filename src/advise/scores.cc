// Attention written out: the scores in memory, a causal mask over all of them, keys and values
// repeated for each query head.
#include <algorithm>

#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr int kMostHops = 6;
constexpr int kMostReaders = 64;

bool passes_scores(Operation op) {
  return is_elementwise(op) || op == Operation::kTranspose || op == Operation::kSlice;
}

// The nodes from a product of activations down to `value`; empty: there is none near.
std::vector<NodeId> way_from_product(const Wiring& wiring, ValueId value, int hops) {
  const NodeId maker = wiring.maker(value);
  if (!maker) return {};
  if (wiring.is_activation_product(maker)) return {maker};
  if (hops == 0 || !passes_scores(wiring.operation(maker))) return {};
  for (const ValueId input : wiring.graph[maker].inputs) {
    if (!input || wiring.is_constant(input)) continue;
    std::vector<NodeId> way = way_from_product(wiring, input, hops - 1);
    if (way.empty()) continue;
    way.push_back(maker);
    return way;
  }
  return {};
}

// The nodes from `value` to a product that it is multiplied in. `budget`: readers to look at.
std::vector<NodeId> way_to_product(const Wiring& wiring, ValueId value, int hops, int& budget) {
  for (const NodeId reader : wiring.readers(value)) {
    if (--budget < 0) return {};
    if (wiring.is_activation_product(reader)) return {reader};
    if (hops == 0 || !passes_scores(wiring.operation(reader))) continue;
    const Node& node = wiring.graph[reader];
    if (node.outputs.empty() || !node.outputs[0]) continue;
    std::vector<NodeId> way = way_to_product(wiring, node.outputs[0], hops - 1, budget);
    if (way.empty()) continue;
    way.insert(way.begin(), reader);
    return way;
  }
  return {};
}

// How often the input of an Expand or Tile is repeated; 0: not a fixed number of times.
int64_t repeats(const Wiring& wiring, const Node& node) {
  if (node.inputs.empty() || !node.inputs[0] || wiring.is_constant(node.inputs[0])) return 0;
  const auto before = element_count(wiring.graph[node.inputs[0]].type);
  const auto after = element_count(wiring.graph[node.outputs[0]].type);
  if (!before || !after || before->is_zero()) return 0;
  const auto first = before->terms().front();
  const auto last = after->terms().front();
  if (first.first == 0 || last.first % first.first != 0) return 0;
  const Int times = last.first / first.first;
  return times > 1 && times <= 4096 && *after == *before * Expr(times) ? static_cast<int64_t>(times)
                                                                       : 0;
}

// The Expand that a product's operand comes from, through transposes, casts and views.
NodeId repeat_before(const Wiring& wiring, ValueId value) {
  for (int hops = 0; hops < 4; ++hops) {
    const NodeId maker = wiring.maker(value);
    if (!maker) return NodeId();
    const Operation op = wiring.operation(maker);
    if (op == Operation::kExpand) return maker;
    if (op != Operation::kTranspose && op != Operation::kCast && op != Operation::kMul)
      return NodeId();
    value = wiring.only_activation(wiring.graph[maker]);
    if (!value) return NodeId();
  }
  return NodeId();
}

// The length of queries and keys, where both are one variable: no past, all tokens at once.
std::string square_side(const Wiring& wiring, ValueId scores) {
  const auto& shape = wiring.graph[scores].type.shape;
  if (!shape || shape->size() < 2) return "";
  const Dim& queries = (*shape)[shape->size() - 2];
  const Dim& keys = (*shape)[shape->size() - 1];
  if (!queries || !keys || !(*queries == *keys)) return "";
  const std::string name = queries->to_string();
  return name == kCurrentLength ? name : "";
}

bool is_causal(const Model& model) {
  return std::any_of(model.graph.caches.begin(), model.graph.caches.end(),
                     [](const Cache& cache) { return cache.kind == CacheKind::kKeyValue; });
}

}  // namespace

void find_materialised_scores(const Wiring& wiring, const PatternText& pattern, Found& found,
                              Collector& collector) {
  for (const NodeId softmax : wiring.nodes()) {
    if (wiring.operation(softmax) != Operation::kSoftmax) continue;
    const Node& node = wiring.graph[softmax];
    if (node.inputs.empty() || !node.inputs[0] || !node.outputs[0]) continue;
    const std::vector<NodeId> above = way_from_product(wiring, node.inputs[0], kMostHops);
    if (above.empty()) continue;
    int budget = kMostReaders;
    const std::vector<NodeId> below =
        way_to_product(wiring, node.outputs[0], kMostHops - 2, budget);
    if (below.empty()) continue;
    Found::Scores scores{softmax, above.front(), below.back(), {}};
    std::vector<NodeId> kernel = above;
    kernel.push_back(softmax);
    kernel.insert(kernel.end(), below.begin(), below.end());
    scores.between.assign(kernel.begin() + 1, kernel.end() - 1);
    for (const NodeId between : scores.between) found.is_taken[between.index] = true;
    found.attentions.push_back(std::move(scores));
    FindingSite site = fuse(wiring, kernel);
    site.as_attention = true;
    collector.add(pattern, std::move(site), std::move(kernel));
  }
}

void find_masked_halves(const Wiring& wiring, const PatternText& pattern, Found& found,
                        Collector& collector) {
  if (!is_causal(wiring.model)) return;
  for (const Found::Scores& scores : found.attentions) {
    const std::string side = square_side(wiring, wiring.graph[scores.query_key].outputs[0]);
    if (side.empty()) continue;
    const Expr length = Expr::variable(side);
    int64_t places = 1;
    for (const NodeId product : {scores.query_key, scores.score_value}) {
      const NodeId of = wiring.tree.template_of_node[product.index];
      const Quantity& flops = wiring.estimate.nodes[of.index][Metric::kFlops];
      if (!flops.formula) continue;
      const int64_t instances = wiring.tree[wiring.tree.module_of_node[product.index]].multiplicity;
      // Of length² pairs a causal mask keeps length·(length+1)/2.
      const Expr of_pair = flops.formula->substitute({{side, Expr(1)}});
      FindingSite site;
      site.kernel = {product};
      site.less.push_back({Metric::kFlops,
                           {floor_div(of_pair * length * (length - 1), Expr(2 * instances)),
                            flops.exactness, flops.source}});
      collector.add(pattern, std::move(site), {scores.query_key, scores.score_value}, "", true,
                    places);
      places = 0;
    }
  }
}

void find_repeated_keys(const Wiring& wiring, const PatternText& pattern, Found& found,
                        Collector& collector) {
  std::vector<NodeId> seen;
  for (const Found::Scores& scores : found.attentions) {
    for (const NodeId product : {scores.query_key, scores.score_value}) {
      for (const ValueId input : wiring.graph[product].inputs) {
        if (!input) continue;
        const NodeId expand = repeat_before(wiring, input);
        if (!expand || std::find(seen.begin(), seen.end(), expand) != seen.end()) continue;
        const Node& node = wiring.graph[expand];
        const int64_t times = repeats(wiring, node);
        const NodeId reader = wiring.only_reader(node.outputs[0]);
        if (times == 0 || !reader) continue;
        seen.push_back(expand);
        collector.add(pattern, fuse(wiring, {expand, reader}), {expand},
                      "each head " + std::to_string(times) + " times");
      }
    }
  }
}

}  // namespace kcharter
