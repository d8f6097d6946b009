// Fused attention as checkpoints' graphs say it. Caches come last among inputs and outputs and are
// updated in place.
//
//   Attention(q [B,S,H·d], k [B,T,K·d], v [B,T,K·dv], sinks?, past_k?, past_v? → out [B,S,H·dv],
//             present_k?, present_v?; num_heads, kv_num_heads, head_dim, v_head_dim, causal, window,
//             softcap)
//   LatentAttention(q [B,S,H·(nope+rope)], latent [B,S,rank], k_rope [B,S,rope], kv_b [rank, H·(nope+dv)],
//             selected?, past? [B,P,rank+rope] → out [B,S,H·dv], present; num_heads, kv_lora_rank,
//             qk_nope_head_dim, qk_rope_head_dim, v_head_dim, selected_keys)
#include "ops/attention_pairs.h"
#include "ops/common_work.h"

namespace kcharter {
namespace {

constexpr int kPairOperations = 6;  // scale, softmax: as for the fused attention of ONNX

std::optional<Expr> window_of(const Node& node) {
  int64_t window = int_attribute(node, "window", 0);
  return window > 0 ? std::optional(Expr(window)) : std::nullopt;
}

// Twice the pairs of one head of one sequence.
Dim twice_pairs(const Node& node, const Dim& queries, const Dim& past, const Dim& new_keys) {
  if (!queries || !past) return std::nullopt;
  if (int_attribute(node, "causal", 1) != 0) return twice_causal_pairs(*queries, *past, window_of(node));
  return times(times(Expr(2), queries), plus(past, new_keys));
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
  if (new_keys && window_of(node)) written = min(*new_keys, *window_of(node));
  Dim tokens = times(times(batch, written), kv_heads);
  work.written_elements = {output_elements(graph, node), times(tokens, head_dim), times(tokens, value_dim)};
  return work;
}

// Decode absorbs kv_b into queries and output and attends in the latent space; prefill has kv_b
// expanded before. The absorbed form: per head and token nope·rank + rank·dv multiply-adds, per pair
// rank+rope and rank.
Work latent_attention_work(const Graph& graph, const Node& node) {
  constexpr size_t kPast = 5;
  Expr heads(int_attribute(node, "num_heads", 0));
  Expr rank(int_attribute(node, "kv_lora_rank", 0));
  Expr nope(int_attribute(node, "qk_nope_head_dim", 0));
  Expr rope(int_attribute(node, "qk_rope_head_dim", 0));
  Expr value_dim(int_attribute(node, "v_head_dim", 0));
  int64_t selected = int_attribute(node, "selected_keys", 0);
  Dim batch = input_dim(graph, node, 0, 0);
  Dim queries = input_dim(graph, node, 0, 1);
  Dim past = has_input(node, kPast) ? input_dim(graph, node, kPast, 1) : Dim(Expr(0));
  std::optional<Expr> window = selected > 0 ? std::optional(Expr(selected)) : std::nullopt;
  Dim pairs = queries && past ? Dim(twice_causal_pairs(*queries, *past, window)) : Dim();
  Dim half = times(times(batch, heads), pairs);
  Dim rows = times(times(batch, queries), heads);
  Work work{.flops = plus(times(half, rank + rope + rank), times(rows, 2 * rank * (nope + value_dim))),
            .elementwise_flops = times(Expr(kPairOperations / 2), half)};
  for (size_t i = 0; i < kPast; ++i) work.read_elements.push_back(input_elements(graph, node, i));
  Dim read = past && window ? Dim(past_keys_read(*past, window)) : past;
  work.read_elements.push_back(times(times(batch, read), rank + rope));
  work.written_elements = {output_elements(graph, node), times(times(batch, queries), rank + rope)};
  return work;
}

}  // namespace

OperatorFamily kcharter_attention_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "Attention", {.is_attention = true, .work = attention_work}},
      {kOurs, "LatentAttention", {.is_attention = true, .work = latent_attention_work}},
  };
  return kEntries;
}

}  // namespace kcharter
