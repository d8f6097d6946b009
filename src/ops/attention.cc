// Fused attention. A causal one counts Σ min(i, window) pairs, any other every pair of query and
// key. A pair costs one multiply-add per element of the key and of the value, and six elementwise
// operations (scale, softmax). Of a cache the kernel reads the tokens that its queries reach and
// writes those of this step; that a runtime may copy the rest is the cache's business.
#include <algorithm>

#include "ops/attention_pairs.h"
#include "ops/common_work.h"

namespace kcharter {
namespace {

constexpr int kPairOperations = 6;

// What one attention does, in whatever words its operator says it.
struct Attending {
  Dim batch;
  Dim heads;
  Dim queries;
  Dim past;       // tokens in the cache before this step
  Dim keys;       // tokens attended to where nothing masks
  Dim query_key;  // elements of one key
  Dim value;      // elements of one value
  bool causal = false;
  std::optional<Expr> window;
};

Dim twice_pairs(const Attending& a) {
  if (!a.causal) return times(times(Expr(2), a.queries), a.keys);
  if (!a.queries || !a.past) return std::nullopt;
  return twice_causal_pairs(*a.queries, *a.past, a.window);
}

Work attending_work(const Attending& a) {
  Dim half = times(times(a.batch, a.heads), twice_pairs(a));
  return {.flops = times(half, plus(a.query_key, a.value)),
          .elementwise_flops = times(Expr(kPairOperations / 2), half)};
}

// The single element of a scalar input, where it is known.
Dim scalar_input(const Graph& graph, const Node& node, size_t input) {
  if (!has_input(node, input)) return std::nullopt;
  const auto& elements = graph[node.inputs[input]].elements;
  if (elements == nullptr || elements->size() != 1) return std::nullopt;
  return elements->front();
}

// Tokens already there: what the operator is told of the total, else the length of the past itself.
// A cache that is not grown is passed at its capacity, and only the total says what it holds.
Dim past_tokens(const Graph& graph, const Node& node, size_t past, int axis, const Dim& total,
                const Dim& queries) {
  if (total && queries) return *total - *queries;
  if (!has_input(node, past)) return Expr(0);
  return input_dim(graph, node, past, axis);
}

Dim divided(const Dim& a, int64_t by) {
  if (!a || by <= 0) return std::nullopt;
  return floor_div(*a, Expr(by));
}

void resize_reads(Work& work, size_t count) {
  while (work.read_elements.size() < count) work.read_elements.push_back(std::nullopt);
}

// Everything but the cache is read whole.
void read_cache_part(Work& work, const Graph& graph, const Node& node, size_t key, const Dim& keys,
                     const Dim& per_key, const Dim& per_value) {
  if (!has_input(node, key)) return;
  for (size_t i = work.read_elements.size(); i < node.inputs.size(); ++i) {
    work.read_elements.push_back(input_elements(graph, node, i));
  }
  work.read_elements[key] = times(keys, per_key);
  if (has_input(node, key + 1)) work.read_elements[key + 1] = times(keys, per_value);
}

// Outputs: the result whole, then keys and values of this step's tokens.
void write_new_tokens(Work& work, const Graph& graph, const Node& node, const Dim& per_key,
                      const Dim& per_value, const Dim& tokens) {
  work.written_elements = {output_elements(graph, node)};
  if (node.outputs.size() < 2) return;
  work.written_elements.push_back(has_output(node, 1) ? times(tokens, per_key) : Dim(Expr(0)));
  if (node.outputs.size() < 3) return;
  work.written_elements.push_back(has_output(node, 2) ? times(tokens, per_value) : Dim(Expr(0)));
}

// com.microsoft.GroupQueryAttention: 0 query [B, S, hidden] (packed: with keys and values), 1 key,
// 2 value, 3 past_key [B, kv heads, P, head], 4 past_value, 6 total_sequence_length.
Work group_query_work(const Graph& graph, const Node& node) {
  int64_t heads = int_attribute(node, "num_heads", 0);
  int64_t kv_heads = int_attribute(node, "kv_num_heads", 0);
  bool packed = !has_input(node, 1);
  if (heads <= 0 || kv_heads <= 0 || heads > INT32_MAX || kv_heads > INT32_MAX) {
    return {.flops = std::nullopt, .elementwise_flops = std::nullopt};
  }
  Dim head = divided(input_dim(graph, node, 0, -1), packed ? heads + 2 * kv_heads : heads);
  Attending a{.batch = input_dim(graph, node, 0, 0),
              .heads = Expr(heads),
              .queries = input_dim(graph, node, 0, 1),
              .past = {},
              .keys = {},
              .query_key = head,
              .value = head,
              .causal = true,
              .window = {}};
  int64_t window = int_attribute(node, "local_window_size", -1);
  if (window > 0) a.window = Expr(window);
  a.past = past_tokens(graph, node, 3, 2, scalar_input(graph, node, 6), a.queries);
  a.keys = plus(a.past, a.queries);
  Work work = attending_work(a);
  // A cache of packed 4-bit numbers has half the elements in its last axis.
  Dim per_key = times(times(a.batch, Expr(kv_heads)),
                      has_input(node, 3) ? input_dim(graph, node, 3, -1) : head);
  Dim reached = a.past ? Dim(past_keys_read(*a.past, a.window)) : Dim();
  read_cache_part(work, graph, node, 3, reached, per_key, per_key);
  write_new_tokens(work, graph, node, per_key, per_key, a.queries);
  return work;
}

// Heads · head size, as [B, S, heads·head] or [B, heads, S, head].
struct Projected {
  Dim batch, heads, length, head;
};

Projected projected(const Graph& graph, const Node& node, size_t input, int64_t heads) {
  const Shape* shape = input_shape(graph, node, input);
  if (shape == nullptr) return {};
  if (shape->size() == 4) return {(*shape)[0], (*shape)[1], (*shape)[2], (*shape)[3]};
  if (shape->size() == 3 && heads > 0) {
    return {(*shape)[0], Expr(heads), (*shape)[1], divided((*shape)[2], heads)};
  }
  if (shape->size() == 5 && heads > 0) {  // packed: [B, S, heads, 2 or 3, head]
    return {(*shape)[0], Expr(heads), (*shape)[1], (*shape)[4]};
  }
  return {};
}

// com.microsoft.MultiHeadAttention: 0 query, 1 key, 2 value, 5 attention bias, 6 past_key
// [B, heads, P, head], 7 past_value, 8 past_sequence_length.
Work multi_head_with(const Graph& graph, const Node& node, size_t past_input, size_t bias_input) {
  int64_t heads = int_attribute(node, "num_heads", 0);
  Projected query = projected(graph, node, 0, heads);
  Projected key = has_input(node, 1) ? projected(graph, node, 1, heads) : query;
  Projected value = has_input(node, 2) ? projected(graph, node, 2, heads) : key;
  Attending a{.batch = query.batch,
              .heads = query.heads,
              .queries = query.length,
              .past = {},
              .keys = {},
              .query_key = query.head,
              .value = value.head,
              .causal = int_attribute(node, "unidirectional", 0) != 0,
              .window = {}};
  a.past = past_tokens(graph, node, past_input, 2, std::nullopt, a.queries);
  a.keys = plus(a.past, key.length);
  Work work = attending_work(a);
  if (has_input(node, bias_input)) {
    work.elementwise_flops =
        plus(work.elementwise_flops, times(times(a.batch, a.heads), times(a.queries, a.keys)));
  }
  Dim per_key = times(times(a.batch, a.heads), a.query_key);
  Dim per_value = times(times(a.batch, a.heads), a.value);
  read_cache_part(work, graph, node, past_input, a.past, per_key, per_value);
  write_new_tokens(work, graph, node, per_key, per_value, key.length);
  return work;
}

Work multi_head_work(const Graph& graph, const Node& node) {
  return multi_head_with(graph, node, 6, 5);
}

// 0 query, 1 key, 2 value, 3 mask, 4 attention bias, 5 past_key, 6 past_value.
Work masked_multi_head_work(const Graph& graph, const Node& node) {
  return multi_head_with(graph, node, 5, 4);
}

// com.microsoft.Attention: 0 input [B, S, hidden], 1 weights [hidden, q+k+v], 4 past
// [2, B, heads, P, head], 6 past_sequence_length; projects and attends. QAttention has its past
// at 8.
Work projecting_with(const Graph& graph, const Node& node, size_t past_input) {
  int64_t heads = int_attribute(node, "num_heads", 0);
  Dim batch = input_dim(graph, node, 0, 0);
  Dim queries = input_dim(graph, node, 0, 1);
  Dim all = input_dim(graph, node, 1, -1);
  Dim hidden = divided(all, 3);
  Dim value_hidden = hidden;
  if (const auto* sizes = ints_attribute(node, "qkv_hidden_sizes"); sizes && sizes->size() == 3) {
    hidden = Expr((*sizes)[0]);
    value_hidden = Expr((*sizes)[2]);
  }
  Attending a{.batch = batch,
              .heads = Expr(heads),
              .queries = queries,
              .past = {},
              .keys = {},
              .query_key = divided(hidden, heads),
              .value = divided(value_hidden, heads),
              .causal = int_attribute(node, "unidirectional", 0) != 0,
              .window = {}};
  a.past = past_tokens(graph, node, past_input, 3, std::nullopt, queries);
  a.keys = plus(a.past, queries);
  Work work = attending_work(a);
  Dim rows = times(batch, queries);
  work.flops = plus(work.flops, times(times(Expr(2), rows), input_elements(graph, node, 1)));
  if (has_input(node, 2)) {
    work.elementwise_flops = plus(work.elementwise_flops, times(rows, all));
  }
  work.written_elements = {output_elements(graph, node)};
  if (has_output(node, 1)) {
    work.written_elements.push_back(times(rows, plus(hidden, value_hidden)));
  }
  return work;
}

Work projecting_work(const Graph& graph, const Node& node) {
  return projecting_with(graph, node, 4);
}

Work quantized_projecting_work(const Graph& graph, const Node& node) {
  return projecting_with(graph, node, 8);
}

// Packed variable-length input [tokens, hidden]: which tokens share a sequence is data.
Work packed_work(const Graph& graph, const Node& node) {
  return {.flops = std::nullopt, .elementwise_flops = output_elements(graph, node)};
}

// Attention of opset 23 and later: 0 Q, 1 K, 2 V as [B, heads, S, head] or [B, S, heads·head],
// 3 mask, 4 past_key [B, kv heads, P, head], 5 past_value, 6 nonpad_kv_seqlen: K and V are then a
// cache at its capacity of which the kernel touches the tokens there are, current_length.
Work onnx_attention_work(const Graph& graph, const Node& node) {
  Projected query = projected(graph, node, 0, int_attribute(node, "q_num_heads", 0));
  Projected key = projected(graph, node, 1, int_attribute(node, "kv_num_heads", 0));
  Projected value = projected(graph, node, 2, int_attribute(node, "kv_num_heads", 0));
  bool in_cache = has_input(node, 6);
  Dim new_keys = in_cache ? query.length : key.length;
  Attending a{.batch = query.batch,
              .heads = query.heads,
              .queries = query.length,
              .past = {},
              .keys = {},
              .query_key = query.head,
              .value = value.head,
              .causal = int_attribute(node, "is_causal", 0) != 0,
              .window = {}};
  Dim total = in_cache ? Dim(Expr::variable("current_length")) : Dim();
  a.past = past_tokens(graph, node, 4, 2, total, a.queries);
  a.keys = plus(a.past, new_keys);
  Work work = attending_work(a);
  if (has_input(node, 3)) {
    work.elementwise_flops =
        plus(work.elementwise_flops, times(times(a.batch, a.heads), times(a.queries, a.keys)));
  }
  Dim per_key = times(times(key.batch, key.heads), key.head);
  Dim per_value = times(times(value.batch, value.heads), value.head);
  if (in_cache) {
    read_cache_part(work, graph, node, 1, a.keys, per_key, per_value);
  } else {
    read_cache_part(work, graph, node, 4, a.past, per_key, per_value);
    write_new_tokens(work, graph, node, per_key, per_value, new_keys);
  }
  return work;
}

// Rotates pairs: two multiply-adds an element, counted as three operations.
Work rotary_work(const Graph& graph, const Node& node) {
  bool ids_first = node.domain == kMicrosoft;
  size_t ids = ids_first ? 1 : 3;
  Work work{.elementwise_flops = times(Expr(3), output_elements(graph, node))};
  Dim rows = input_elements(graph, node, ids);
  Dim width = input_dim(graph, node, ids_first ? 2 : 1, -1);
  // Tables [positions, half]: a row for each position id; without ids they are already gathered.
  if (!has_input(node, ids) || !rows || !width) return work;
  resize_reads(work, 4);
  for (size_t i = 0; i < 4; ++i) work.read_elements[i] = input_elements(graph, node, i);
  size_t cosine = ids_first ? 2 : 1;
  // A single id is the position of the first token; the others follow it.
  Dim length = input_dim(graph, node, 0, input_shape(graph, node, 0)->size() == 4 ? 2 : 1);
  if (*rows == Expr(1) && length) rows = length;
  work.read_elements[cosine] = times(rows, width);
  work.read_elements[cosine + 1] = times(rows, width);
  return work;
}

// com.microsoft.LinearAttention: 0 query [B, S, heads·dk], 1 key, 2 value [B, S, heads·dv], 3 state
// [B, heads, dk, dv]. A token decays the state, adds k⊗v to it and reads q·S: two multiply-adds an
// element of the state; the delta rule reads k·S too, a third. Elementwise: the decay.
Work linear_attention_work(const Graph& graph, const Node& node) {
  const Shape* state = input_shape(graph, node, 3);
  if (state == nullptr) state = output_shape(graph, node, 1);
  Dim tokens = input_dim(graph, node, 0, 1);
  Dim updates = state == nullptr ? Dim() : times(tokens, product(*state, 0, state->size()));
  std::string rule = string_attribute(node, "update_rule", "gated_delta");
  int64_t products = rule.find("delta") != std::string::npos ? 3 : 2;
  return {.flops = times(Expr(2 * products), updates), .elementwise_flops = updates};
}

// com.microsoft.QOrderedAttention: 0 input [B, S, hidden], 5, 6, 7 the projections [hidden, width].
Work ordered_attention_work(const Graph& graph, const Node& node) {
  Dim batch = input_dim(graph, node, 0, 0);
  Dim length = input_dim(graph, node, 0, 1);
  Dim tokens = times(batch, length);
  Dim weights = plus(plus(input_elements(graph, node, 5), input_elements(graph, node, 6)),
                     input_elements(graph, node, 7));
  Dim pairs = times(tokens, length);
  Dim widths = plus(input_dim(graph, node, 6, -1), input_dim(graph, node, 7, -1));
  Dim heads = int_attribute(node, "num_heads", 0) > 0
                  ? Dim(Expr(int_attribute(node, "num_heads", 0)))
                  : Dim();
  return {
      .flops = plus(times(times(Expr(2), tokens), weights), times(times(Expr(2), pairs), widths)),
      .elementwise_flops = times(times(Expr(kPairOperations), heads), pairs)};
}

TensorPart ordered_attention_part(const Node&, size_t input) {
  return part_at(
      "pssssppp"
      "sss"
      "ppp"
      "ssss",
      input);
}

TensorPart qattention_part(const Node&, size_t input) { return part_at("pp.ss.zz.", input); }

}  // namespace

OperatorFamily attention_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Attention", {.is_attention = true, .work = onnx_attention_work}},
      {kOnnx, "RotaryEmbedding", {.work = rotary_work}},
      {kOnnx, "LinearAttention", {.is_recurrent = true, .work = linear_attention_work}},
      {"ai.onnx.preview", "FlexAttention", {.is_attention = true, .work = onnx_attention_work}},
      {kMicrosoft, "Attention", {.is_attention = true, .work = projecting_work}},
      {kMicrosoft,
       "QAttention",
       {.is_attention = true, .work = quantized_projecting_work, .tensor_part = qattention_part}},
      {kMicrosoft, "MultiHeadAttention", {.is_attention = true, .work = multi_head_work}},
      {kMicrosoft,
       "DecoderMaskedMultiHeadAttention",
       {.is_attention = true, .work = masked_multi_head_work}},
      {kMicrosoft, "DecoderMaskedSelfAttention", {.is_attention = true, .work = projecting_work}},
      {kMicrosoft, "GroupQueryAttention", {.is_attention = true, .work = group_query_work}},
      {kMicrosoft, "SparseAttention", {.is_attention = true, .work = group_query_work}},
      {kMicrosoft, "PackedAttention", {.is_attention = true, .work = packed_work}},
      {kMicrosoft, "PackedMultiHeadAttention", {.is_attention = true, .work = packed_work}},
      {kMicrosoft, "PagedAttention", {.is_attention = true, .work = packed_work}},
      {kMicrosoft, "LinearAttention", {.is_recurrent = true, .work = linear_attention_work}},
      {kMicrosoft,
       "QOrderedAttention",
       {.is_attention = true,
        .work = ordered_attention_work,
        .tensor_part = ordered_attention_part}},
      {kMicrosoft, "RotaryEmbedding", {.work = rotary_work}},
      {kMicrosoft, "GemmaRotaryEmbedding", {.work = per_output_element<3>}},
  };
  return kEntries;
}

}  // namespace kcharter
