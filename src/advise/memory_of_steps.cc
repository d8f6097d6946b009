// What a step writes and nobody needs: whole caches again, logits of all tokens.
#include <algorithm>

#include "advise/pattern.h"
#include "kcharter/estimate/caches.h"

namespace kcharter {
namespace {

constexpr int kMostHops = 6;

// A tied head has as many columns as the embedding has rows.
bool is_vocabulary(const Wiring& wiring, int64_t size) {
  return std::any_of(wiring.nodes().begin(), wiring.nodes().end(), [&](NodeId id) {
    const Node& node = wiring.graph[id];
    if (wiring.operation(id) != Operation::kGather || !node.inputs[0]) return false;
    const auto& shape = wiring.graph[node.inputs[0]].type.shape;
    return wiring.is_constant(node.inputs[0]) && shape && shape->size() >= 2 &&
           (*shape)[0] == Dim(Expr(size));
  });
}

bool makes_tokens(const Model& model) {
  return !model.graph.caches.empty() || model.architecture.ends_with("ForCausalLM");
}

NodeId maker_before_casts(const Wiring& wiring, ValueId value) {
  NodeId maker = wiring.maker(value);
  for (int hops = 0; hops < kMostHops && maker; ++hops) {
    const Operation op = wiring.operation(maker);
    if (op != Operation::kCast && op != Operation::kTranspose) break;
    maker = wiring.maker(wiring.graph[maker].inputs[0]);
  }
  return maker;
}

// The product with the head's weight and what follows it up to `logits`.
std::vector<NodeId> head_of(const Wiring& wiring, ValueId logits) {
  std::vector<NodeId> way;
  for (int hops = 0; hops < kMostHops && logits; ++hops) {
    const NodeId maker = wiring.maker(logits);
    if (!maker) return {};
    way.insert(way.begin(), maker);
    if (wiring.is_weight_product(maker)) return way;
    if (!is_elementwise(wiring.operation(maker))) return {};
    logits = wiring.only_activation(wiring.graph[maker]);
  }
  return {};
}

}  // namespace

void find_grown_caches(const Wiring& wiring, const PatternText& pattern, Found&,
                       Collector& collector) {
  for (const Cache& cache : wiring.graph.caches) {
    if (!cache.copied || !cache.input || !cache.output) continue;
    const NodeId concat = maker_before_casts(wiring, cache.output);
    if (!concat || wiring.operation(concat) != Operation::kConcat) continue;
    FindingSite site;
    Edit edit{concat, Edit::old_part(0), false, false};
    const Node& node = wiring.graph[concat];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] && wiring.root(node.inputs[i]) == wiring.root(cache.input)) {
        edit.operands |= Edit::input(i);
      }
    }
    site.edits.push_back(edit);
    site.less.push_back({Metric::kCacheCopyBytes,
                         copied_bytes(wiring.graph, cache, wiring.estimate.operands.kv_blocks)});
    collector.add(pattern, std::move(site), {concat});
  }
}

void find_logits_of_all_tokens(const Wiring& wiring, const PatternText& pattern, Found&,
                               Collector& collector) {
  if (!makes_tokens(wiring.model)) return;
  for (const ValueId output : wiring.graph.outputs) {
    if (!output || wiring.graph[output].role == ValueRole::kCache) continue;
    const auto& shape = wiring.graph[output].type.shape;
    if (!shape || shape->size() != 3 || !(*shape)[1] || !(*shape)[2]) continue;
    const std::string tokens = (*shape)[1]->to_string();
    const std::optional<Int> columns = (*shape)[2]->constant();
    if (!columns || !((*shape)[1]->variables() == std::set<std::string>{tokens})) continue;
    const std::vector<NodeId> head = head_of(wiring, output);
    if (head.empty() || !is_vocabulary(wiring, static_cast<int64_t>(*columns))) continue;
    int64_t places = 1;
    for (const NodeId node : head) {
      FindingSite site;
      site.kernel = {node};
      site.single = tokens;
      site.gone.push_back(wiring.root(wiring.graph[node].outputs[0]));
      collector.add(pattern, std::move(site), head, "", true, places);
      places = 0;
    }
  }
}

}  // namespace kcharter
