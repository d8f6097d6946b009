// Attention over a raw window and compressed keys, and residuals of several streams: what DeepSeek-V4
// and Kimi K3 add. Caches come last among inputs and outputs and are updated in place.
//
//   CompressTokens(kv [B,S,w], gate [B,S,w], positions, past? [B,2,rows,w] → y [B,ceil(S/ratio),size],
//             present; ratio, size): each `ratio` tokens become one entry, weighted by a softmax over
//             their gates; the state holds kv and gates of the tokens not yet compressed
//   CompressedAttention(q [B,S,H·d], kv [B,S,d], entries? [B,·,d], selected?, sinks?, window? [B,P,d],
//             past? [B,E,d] → out [B,S,H·d], present window, present entries?; num_heads, v_head_dim,
//             window, ratio, selected_keys): keys are values; a query sees the last `window` tokens and,
//             of one entry for each `ratio` tokens before it, all or the best `selected_keys`
//   MixStreams(x [B,S,n·H], weights … → [B,S,H]; size)          a weighted sum of n streams
//   SpreadStreams(x [B,S,n·H], y [B,S,H], weights → [B,S,n·H]; count)   streams mixed, y added to each
//   MixResiduals(x [B,S,H], norm, score, earlier [B,S,H] … → [B,S,H])  softmax over normalized scores
//
// DeepSeek-V4 report §2; manifold-constrained hyper-connections: arXiv 2512.24880.
#include "ops/attention_pairs.h"
#include "ops/common_work.h"

namespace kcharter {
namespace {

constexpr int kPairOperations = 6;  // scale, softmax

Work compress_work(const Graph& graph, const Node& node) {
  // Softmax of the gates, a product and a sum.
  return {.elementwise_flops = times(Expr(5 + 2), input_elements(graph, node, 0))};
}

// The entries seen by one query of decode, or by all queries of prefill together.
Dim entries_seen(const Graph& graph, const Node& node, const Dim& queries) {
  int64_t ratio = int_attribute(node, "ratio", 0);
  if (ratio <= 0) return Expr(0);
  if (!queries) return std::nullopt;
  int64_t selected = int_attribute(node, "selected_keys", 0);
  if (*queries != Expr(1)) return compressed_pairs(*queries, ratio, selected);
  Dim kept = output_dim(graph, node, node.outputs.size() - 1, 1);
  return kept && selected > 0 ? Dim(min(*kept, Expr(selected))) : kept;
}

Work compressed_attention_work(const Graph& graph, const Node& node) {
  constexpr size_t kWindow = 5, kEntries = 6;
  Expr heads(int_attribute(node, "num_heads", 0)), head_dim(int_attribute(node, "v_head_dim", 0));
  Dim batch = input_dim(graph, node, 0, 0), queries = input_dim(graph, node, 0, 1);
  bool decode = has_input(node, kWindow);
  Dim past = decode ? input_dim(graph, node, kWindow, 1) : Dim(Expr(0));
  Dim entries = entries_seen(graph, node, queries);
  Dim half;
  if (queries && past && entries) {
    half = twice_causal_pairs(*queries, *past, Expr(int_attribute(node, "window", 1))) + 2 * *entries;
    half = times(times(batch, heads), half);
  }
  Work work{.flops = times(half, 2 * head_dim), .elementwise_flops = times(Expr(kPairOperations / 2), half)};
  for (size_t i = 0; i < kWindow && i < node.inputs.size(); ++i) {
    work.read_elements.push_back(has_input(node, i) ? input_elements(graph, node, i) : Dim(Expr(0)));
  }
  if (decode) work.read_elements.push_back(input_elements(graph, node, kWindow));
  if (has_input(node, kEntries)) work.read_elements.push_back(times(times(batch, entries), head_dim));
  work.written_elements = {output_elements(graph, node), input_elements(graph, node, 1)};
  if (node.outputs.size() > 2) work.written_elements.push_back(input_elements(graph, node, 2));
  return work;
}

// Each stream is weighted by every other, and the block's output once.
Work spread_work(const Graph& graph, const Node& node) {
  Expr count(int_attribute(node, "count", 1));
  return {.elementwise_flops = times(2 * count + 2, output_elements(graph, node))};
}

// Of every candidate: norm (3), score (2), weighted sum (2).
Work mix_residuals_work(const Graph& graph, const Node& node) {
  constexpr size_t kFirstEarlier = 3;
  Expr candidates(static_cast<int64_t>(node.inputs.size() - std::min(node.inputs.size(), kFirstEarlier)) + 1);
  return {.elementwise_flops = times(7 * candidates, output_elements(graph, node))};
}

}  // namespace

OperatorFamily kcharter_compressed_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "CompressTokens", {.is_recurrent = true, .work = compress_work}},
      {kOurs, "CompressedAttention", {.is_attention = true, .work = compressed_attention_work}},
      {kOurs, "MixResiduals", {.work = mix_residuals_work}},
      {kOurs, "MixStreams", {.work = per_input_element<5>}},
      {kOurs, "SpreadStreams", {.work = spread_work}},
  };
  return kEntries;
}

}  // namespace kcharter
