// Fused attention as checkpoints' graphs say it. Caches come last among inputs and outputs and are
// updated in place.
//
//   Attention(q [B,S,H·d], k [B,T,K·d], v [B,T,K·dv], sinks?, past_k?, past_v? → out [B,S,H·dv],
//             present_k?, present_v?; num_heads, kv_num_heads, head_dim, v_head_dim, causal, window,
//             softcap, selected_keys: with the choice in the place of sinks)
//   CrossAttention(q, k?, v?, past_k?, past_v? → out, present_k, present_v; as Attention)
//   SharedAttention(q, keys [B,K,T,d], values [B,K,T,dv] → out; as Attention)
//   LatentAttention(q [B,S,H·(nope+rope)], latent [B,S,rank], k_rope [B,S,rope],
//             expanded? [B,S,H·(nope+dv)], selected?, kv_b …, past? [B,P,rank+rope]
//             → out [B,S,H·dv], present; num_heads, kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim,
//             v_head_dim, absorbed, selected_keys)
//   SparseIndexer(q [B,S,H·d], k [B,S,d], weights [B,S,H], past? [B,P,d] → selected [B,S,k], present;
//             num_heads, head_dim, selected_keys, ratio: keys are entries of that many tokens, 1 if none)
#include "ops/attention_pairs.h"
#include "ops/common_work.h"

namespace kcharter {
namespace {

constexpr int kPairOperations = 6;  // scale, softmax: as for the fused attention of ONNX

// Keys chosen by an index bound the pairs as a window does.
std::optional<Expr> window_of(const Node& node) {
  int64_t window = int_attribute(node, "window", int_attribute(node, "selected_keys", 0));
  return window > 0 ? std::optional(Expr(window)) : std::nullopt;
}

// Whole chunks of C·(C+1)/2 pairs and what is left.
Dim twice_chunked_pairs(const Expr& queries, const Expr& chunk) {
  Expr rest = mod(queries, chunk);
  return floor_div(queries, chunk) * chunk * (chunk + 1) + rest * (rest + 1);
}

// Twice the pairs of one head of one sequence.
Dim twice_pairs(const Node& node, const Dim& queries, const Dim& past, const Dim& new_keys) {
  if (!queries || !past) return std::nullopt;
  int64_t chunk = int_attribute(node, "chunk", 0);
  if (chunk > 0 && past->is_zero() && *queries != Expr(1)) return twice_chunked_pairs(*queries, Expr(chunk));
  if (int_attribute(node, "causal", 1) != 0) return twice_causal_pairs(*queries, *past, window_of(node));
  Dim keys = plus(past, new_keys);
  int64_t block = int_attribute(node, "block", 0);
  if (block > 0 && keys) keys = min(*keys, Expr(block));
  return times(times(Expr(2), queries), keys);
}

// All of every operand but the caches: of those the past is read, the new tokens are written.
Work attention_work(const Graph& graph, const Node& node) {
  constexpr size_t kPastKey = 4;
  Expr heads(int_attribute(node, "num_heads", 0));
  Expr kv_heads(int_attribute(node, "kv_num_heads", 0));
  Expr head_dim(int_attribute(node, "head_dim", 0));
  Expr value_dim(int_attribute(node, "v_head_dim", 0));
  Dim batch = input_dim(graph, node, 0, 0);
  Dim queries = input_dim(graph, node, 0, 1);
  Dim new_keys = input_dim(graph, node, 1, 1);
  Dim past = has_input(node, kPastKey) ? input_dim(graph, node, kPastKey, 2) : Dim(Expr(0));
  Dim half = times(times(batch, heads), twice_pairs(node, queries, past, new_keys));
  Work work{.flops = times(half, head_dim + value_dim),
            .elementwise_flops = times(Expr(kPairOperations / 2), half)};
  Dim written = new_keys;
  int64_t selected = int_attribute(node, "selected_keys", 0);
  if (new_keys && window_of(node) && selected == 0) written = min(*new_keys, *window_of(node));
  if (selected > 0) {
    for (size_t i = 0; i < kPastKey && i < node.inputs.size(); ++i) {
      work.read_elements.push_back(has_input(node, i) ? input_elements(graph, node, i) : Dim(Expr(0)));
    }
    Dim kept = past ? Dim(past_keys_read(*past, Expr(selected))) : past;
    Dim rows = times(times(batch, kept), kv_heads);
    if (has_input(node, kPastKey)) {
      work.read_elements.push_back(times(rows, head_dim));
      work.read_elements.push_back(times(rows, value_dim));
    }
  }
  Dim tokens = times(times(batch, written), kv_heads);
  work.written_elements = {output_elements(graph, node), times(tokens, head_dim), times(tokens, value_dim)};
  return work;
}

// In decode keys and values are those of the cache, which only prefill writes.
Work cross_attention_work(const Graph& graph, const Node& node) {
  Dim keys = has_input(node, 1) ? input_dim(graph, node, 1, 1) : input_dim(graph, node, 3, 2);
  Dim pairs = times(times(Expr(2), input_dim(graph, node, 0, 1)), keys);
  Dim half = times(times(input_dim(graph, node, 0, 0), Expr(int_attribute(node, "num_heads", 0))), pairs);
  Expr dims(int_attribute(node, "head_dim", 0) + int_attribute(node, "v_head_dim", 0));
  Work work{.flops = times(half, dims), .elementwise_flops = times(Expr(kPairOperations / 2), half)};
  if (!has_input(node, 1)) work.written_elements = {output_elements(graph, node), Expr(0), Expr(0)};
  return work;
}

// Keys and values are what an earlier layer left in its cache.
Work shared_attention_work(const Graph& graph, const Node& node) {
  Dim queries = input_dim(graph, node, 0, 1);
  Dim keys = input_dim(graph, node, 1, 2);
  Dim pairs = queries == Dim(Expr(1)) ? times(Expr(2), keys) : twice_pairs(node, queries, Expr(0), queries);
  Dim half = times(times(input_dim(graph, node, 0, 0), Expr(int_attribute(node, "num_heads", 0))), pairs);
  Expr dims(int_attribute(node, "head_dim", 0) + int_attribute(node, "v_head_dim", 0));
  return {.flops = times(half, dims), .elementwise_flops = times(Expr(kPairOperations / 2), half)};
}

Dim causal_pairs(const Dim& queries, const Dim& past, int64_t selected) {
  if (!queries || !past) return std::nullopt;
  return twice_causal_pairs(*queries, *past, selected > 0 ? std::optional(Expr(selected)) : std::nullopt);
}

// The past stands last among the inputs, where there is one.
std::optional<size_t> past_input(const Graph& graph, const Node& node) {
  size_t last = node.inputs.size() - 1;
  if (!has_input(node, last) || graph[node.inputs[last]].role != ValueRole::kCache) return std::nullopt;
  return last;
}

// Of the inputs everything is read, of a past that is cut to `selected` keys only those.
void read_past(Work& work, const Graph& graph, const Node& node, std::optional<size_t> past_index,
               const Dim& per_key, int64_t selected) {
  if (!past_index) return;
  for (size_t i = 0; i < *past_index; ++i) {
    work.read_elements.push_back(has_input(node, i) ? input_elements(graph, node, i) : Dim(Expr(0)));
  }
  Dim past = input_dim(graph, node, *past_index, 1);
  if (past && selected > 0) past = past_keys_read(*past, Expr(selected));
  work.read_elements.push_back(times(per_key, past));
}

// Expanded: kv_b has been multiplied before, heads attend in nope+rope and value dimensions. Absorbed:
// per head and token nope·rank + rank·dv multiply-adds with kv_b, per pair rank+rope and rank.
Work latent_attention_work(const Graph& graph, const Node& node) {
  Expr heads(int_attribute(node, "num_heads", 0));
  Expr rank(int_attribute(node, "kv_lora_rank", 0));
  Expr nope(int_attribute(node, "qk_nope_head_dim", 0));
  Expr rope(int_attribute(node, "qk_rope_head_dim", 0));
  Expr value_dim(int_attribute(node, "v_head_dim", 0));
  bool absorbed = int_attribute(node, "absorbed", 0) != 0;
  int64_t selected = int_attribute(node, "selected_keys", 0);
  Dim batch = input_dim(graph, node, 0, 0);
  Dim queries = input_dim(graph, node, 0, 1);
  std::optional<size_t> past_index = past_input(graph, node);
  Dim past = past_index ? input_dim(graph, node, *past_index, 1) : Dim(Expr(0));
  Dim half = times(times(batch, heads), causal_pairs(queries, past, selected));
  Work work{.elementwise_flops = times(Expr(kPairOperations / 2), half)};
  work.flops = times(half, absorbed ? rank + rope + rank : nope + rope + value_dim);
  if (absorbed) {
    Dim rows = times(times(batch, queries), heads);
    work.flops = plus(work.flops, times(rows, 2 * rank * (nope + value_dim)));
  }
  read_past(work, graph, node, past_index, times(batch, rank + rope), selected);
  work.written_elements = {output_elements(graph, node), times(times(batch, queries), rank + rope)};
  return work;
}

// Scores of every key for every query and head, weighted and summed over heads; the best are kept.
Work sparse_indexer_work(const Graph& graph, const Node& node) {
  Expr heads(int_attribute(node, "num_heads", 0));
  Expr head_dim(int_attribute(node, "head_dim", 0));
  Dim batch = input_dim(graph, node, 0, 0);
  Dim queries = input_dim(graph, node, 0, 1);
  std::optional<size_t> past_index = past_input(graph, node);
  Dim past = past_index ? input_dim(graph, node, *past_index, 1) : Dim(Expr(0));
  int64_t ratio = int_attribute(node, "ratio", 1);
  Dim pairs = causal_pairs(queries, past, 0);
  if (ratio > 1 && queries && *queries != Expr(1)) pairs = 2 * compressed_pairs(*queries, ratio, 0);
  Dim half = times(times(batch, heads), pairs);
  Work work{.flops = times(half, head_dim), .elementwise_flops = half};
  read_past(work, graph, node, past_index, times(batch, head_dim), 0);
  work.written_elements = {output_elements(graph, node), input_elements(graph, node, 1)};
  return work;
}

}  // namespace

OperatorFamily kcharter_attention_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "Attention", {.is_attention = true, .work = attention_work}},
      {kOurs, "CrossAttention", {.is_attention = true, .work = cross_attention_work}},
      {kOurs, "LatentAttention", {.is_attention = true, .work = latent_attention_work}},
      {kOurs, "SharedAttention", {.is_attention = true, .work = shared_attention_work}},
      {kOurs, "SparseIndexer", {.is_attention = true, .work = sparse_indexer_work}},
  };
  return kEntries;
}

}  // namespace kcharter
