// Attention as com.microsoft has it (ContribOperators.md of ONNX Runtime): packed weights, packed
// projections, caches that grow or that are buffers of full length.
#include <algorithm>
#include <string>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

int64_t heads_of(const NodeInference& node, std::string_view attribute = "num_heads") {
  const int64_t heads = int_attribute(node.node, attribute, 0);
  constexpr int64_t kMostHeads = int64_t{1} << 31;
  if (heads < 1 || heads > kMostHeads) {
    throw Error(std::string(attribute) + " is missing or not possible: " + std::to_string(heads));
  }
  return heads;
}

// The last of qkv_hidden_sizes, or a third of what the weight gives.
Dim packed_value_size(const NodeInference& node, size_t weight) {
  const auto* sizes = ints_attribute(node.node, "qkv_hidden_sizes");
  if (sizes != nullptr && sizes->size() == 3) return Expr((*sizes)[2]);
  return floor_divided(node.input_dim(weight, -1), 3);
}

// The combined cache [2, batch, heads, past, size] after this step.
Dim grown(const NodeInference& node, const Dim& past, const Dim& tokens) {
  return int_attribute(node.node, "past_present_share_buffer", 0) != 0 ? past : plus(past, tokens);
}

void set_combined_present(NodeInference& node, size_t past, DType dtype, const Dim& value_size) {
  const Shape* cache = node.input_shape(past);
  const Dim tokens = node.input_dim(0, 1);
  if (cache != nullptr && cache->size() == 5) {
    Shape present = *cache;
    present[3] = grown(node, present[3], tokens);
    return node.set(1, dtype, std::move(present));
  }
  const int64_t heads = heads_of(node);
  node.set(1, dtype,
           Shape{Expr(2), node.input_dim(0, 0), Expr(heads),
                 node.has_input(past) ? std::nullopt : tokens, floor_divided(value_size, heads)});
}

// input, weights, bias, mask_index, past
void attention(NodeInference& node) {
  const DType dtype = node.input_dtype(0);
  const Dim size = packed_value_size(node, 1);
  node.set(0, dtype, Shape{node.input_dim(0, 0), node.input_dim(0, 1), size});
  set_combined_present(node, 4, dtype, size);
}

// input, weight, bias, input_scale, weight_scale, mask_index, zero points, past
void quantized_attention(NodeInference& node) {
  const DType dtype = first_dtype(node, {3, 2});
  const Dim size = packed_value_size(node, 1);
  node.set(0, dtype, Shape{node.input_dim(0, 0), node.input_dim(0, 1), size});
  set_combined_present(node, 8, dtype, size);
}

struct Projection {
  Dim tokens, size;  // size of one head
};

// key or value: [batch, tokens, heads·size], [batch, heads, tokens, size] or packed with the query.
Projection projection(const NodeInference& node, size_t input, const Projection& packed,
                      int64_t heads) {
  switch (node.input_rank(input).value_or(0)) {
    case 3:
      return {node.input_dim(input, 1), floor_divided(node.input_dim(input, 2), heads)};
    case 4:
      return {node.input_dim(input, 2), node.input_dim(input, 3)};
    case 5:
      return {node.input_dim(input, 1), node.input_dim(input, 4)};
    default:
      return node.has_input(input) ? Projection{} : packed;
  }
}

void set_present(NodeInference& node, size_t output, size_t past, int64_t heads,
                 const Projection& fresh, DType dtype) {
  const Shape* cache = node.input_shape(past);
  if (cache != nullptr && cache->size() == 4) {
    Shape present = *cache;
    present[2] = grown(node, present[2], fresh.tokens);
    return node.set(output, first_dtype(node, {past}), std::move(present));
  }
  node.set(output, dtype,
           Shape{node.input_dim(0, 0), Expr(heads),
                 node.has_input(past) ? std::nullopt : fresh.tokens, fresh.size});
}

// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value
void set_multi_head(NodeInference& node, size_t past_key, size_t past_value) {
  const int64_t heads = heads_of(node);
  const DType dtype = node.input_dtype(0);
  const bool packed = node.input_rank(0) == 5;  // [batch, tokens, heads, 3, size]
  const Projection query{node.input_dim(0, 1), packed ? node.input_dim(0, 4)
                                                      : floor_divided(node.input_dim(0, 2), heads)};
  const Projection key = projection(node, 1, query, heads);
  // A packed [batch, tokens, heads, 2, size] holds both.
  const Projection value = projection(node, 2, key, heads);
  node.set(0, dtype, Shape{node.input_dim(0, 0), query.tokens, times(value.size, Expr(heads))});
  set_present(node, 1, past_key, heads, key, dtype);
  set_present(node, 2, past_value, heads, value, dtype);
  const Dim past = node.has_input(past_key) ? node.input_dim(past_key, 2) : Dim(Expr(0));
  node.set(3, dtype,
           Shape{node.input_dim(0, 0), Expr(heads), query.tokens, plus(past, key.tokens)});
}

void multi_head_attention(NodeInference& node) { set_multi_head(node, 6, 7); }
// query, key, value, mask_index, attention_bias, past_key, past_value
void decoder_masked_attention(NodeInference& node) { set_multi_head(node, 5, 6); }

// How long a cache is after the step: a buffer of full length stays, a grown one holds all tokens.
Dim cache_length(const NodeInference& node, const Dim& past, const Dim& tokens, const Dim& total) {
  if (past && *past == Expr::variable(kMaxLength)) return past;
  if (past && total) {
    if (node.bounds().at_least(*past, *total)) return past;
    return node.bounds().at_least(*total, *past) ? total : max(*past, *total);
  }
  return plus(past, tokens);
}

// query, key, value, past_key, past_value, seqlens_k, total_sequence_length. Without key and value
// the query holds all three.
void set_grouped_query(NodeInference& node, bool total_is_scalar, size_t total_input) {
  const int64_t heads = heads_of(node);
  const int64_t kv_heads = heads_of(node, "kv_num_heads");
  const DType dtype = node.input_dtype(0);
  const Dim tokens = node.input_dim(0, 1);
  const Dim size =
      floor_divided(node.input_dim(0, 2), node.has_input(1) ? heads : heads + 2 * kv_heads);
  node.set(0, dtype, Shape{node.input_dim(0, 0), tokens, times(size, Expr(heads))});
  const Dim total = total_is_scalar ? integer(node.scalar(total_input)) : Dim();
  for (const size_t past : {size_t{3}, size_t{4}}) {
    const Shape* cache = node.input_shape(past);
    Shape present{node.input_dim(0, 0), Expr(kv_heads), node.has_input(past) ? Dim() : tokens,
                  size};
    if (cache != nullptr && cache->size() == 4) {
      present = *cache;
      present[2] = cache_length(node, present[2], tokens, total);
    }
    node.set(past - 2, first_dtype(node, {past, 0}), std::move(present));
  }
}

void grouped_query_attention(NodeInference& node) { set_grouped_query(node, true, 6); }

// The cache of SparseAttention is a buffer.
void sparse_attention(NodeInference& node) {
  set_grouped_query(node, false, 0);
  node.set(1, node.input(3));
  node.set(2, node.input(4));
}

// query [tokens, heads·size], key, value, key_cache, value_cache
void paged_attention(NodeInference& node) {
  const int64_t heads = heads_of(node);
  const int64_t kv_heads = heads_of(node, "kv_num_heads");
  Dim size = node.input_dim(0, 1);
  if (!node.has_input(1)) size = times(floor_divided(size, heads + 2 * kv_heads), Expr(heads));
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), size});
  node.set(1, node.input(3));
  node.set(2, node.input(4));
}

void packed_attention(NodeInference& node) {
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), packed_value_size(node, 1)});
}

void packed_multi_head_attention(NodeInference& node) {
  const bool packed = node.input_rank(0) == 4;  // [tokens, heads, 3, size]
  const Dim size = packed ? times(node.input_dim(0, 1), node.input_dim(0, 3))
                          : node.input_dim(node.has_input(2) ? 2 : 0, 1);
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), size});
}

// bias_table, query_length, key_length
void relative_position_bias(NodeInference& node) {
  node.set(0, node.input_dtype(0),
           Shape{Expr(1), node.input_dim(0, 1), integer(node.scalar(1)), integer(node.scalar(2))});
}

// query_layer [batch, tokens, heads·size] …
void gated_relative_position_bias(NodeInference& node) {
  const Dim tokens = node.has_input(6) ? node.input_dim(6, 1) : node.input_dim(0, 1);
  const Dim batch = node.has_input(6) ? node.input_dim(6, 0) : node.input_dim(0, 0);
  node.set(0, node.input_dtype(0), Shape{batch, Expr(heads_of(node)), tokens, tokens});
}

// input [batch, tokens, size], mask → the tokens that are not padding, side by side.
void remove_padding(NodeInference& node) {
  const Dim count = node.inference.data_dependent_dim(node.node, 0, "tokens", 1);
  const Dim batch = node.input_dim(0, 0);
  node.set(0, node.input_dtype(0), Shape{count, node.input_dim(0, -1)});
  node.set(1, DType::kInt32, Shape{batch, node.input_dim(0, 1)});
  node.set(2, DType::kInt32, Shape{plus(batch, Expr(1))});
  node.set(3, DType::kInt32, Shape{Expr(1)});
}

void restore_padding(NodeInference& node) {
  node.set(0, node.input_dtype(0),
           Shape{node.input_dim(1, 0), node.input_dim(1, 1), node.input_dim(0, -1)});
}

constexpr ShapeRuleEntry kEntries[] = {
    {kMicrosoft, "Attention", attention},
    {kMicrosoft, "DecoderMaskedMultiHeadAttention", decoder_masked_attention},
    {kMicrosoft, "DecoderMaskedSelfAttention", attention},
    {kMicrosoft, "GatedRelativePositionBias", gated_relative_position_bias},
    {kMicrosoft, "GroupQueryAttention", grouped_query_attention},
    {kMicrosoft, "LongformerAttention", same_as_first_input},
    {kMicrosoft, "MultiHeadAttention", multi_head_attention},
    {kMicrosoft, "PackedAttention", packed_attention},
    {kMicrosoft, "PackedMultiHeadAttention", packed_multi_head_attention},
    {kMicrosoft, "PagedAttention", paged_attention},
    {kMicrosoft, "QAttention", quantized_attention},
    {kMicrosoft, "QOrderedLongformerAttention", same_as_first_input},
    {kMicrosoft, "RelativePositionBias", relative_position_bias},
    {kMicrosoft, "RemovePadding", remove_padding},
    {kMicrosoft, "RestorePadding", restore_padding},
    {kMicrosoft, "SparseAttention", sparse_attention},
};

}  // namespace

ShapeRuleFamily microsoft_attention_shape_rules() { return kEntries; }

}  // namespace kcharter
