// Attention: multi-head, grouped-query and multi-query attention with a cache, as serving engines
// run it: projections, norms of queries and keys, rotary embedding, one fused attention operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/architecture/components.h"

namespace kcharter {

// kPerHead: one scale [head_dim] for all heads; kWhole: one over all heads together; kTable: a scale of
// each head in one table; kEachHead: a scale of each head in a tensor of its own.
enum class QueryKeyNorm : uint8_t { kNone, kPerHead, kWhole, kTable, kEachHead };

// Each query sees its best `keys` keys alone, in whole blocks; an index of one key a token and `heads`
// queries finds them.
struct BlockSelection {
  int64_t heads = 0, head_dim = 0, keys = 0;
};

struct Attention {
  std::string name = "self_attn";
  std::string class_name;
  int64_t hidden_size = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  std::optional<int64_t> value_head_dim;  // none: head_dim
  std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "o_proj";
  std::string fused;  // queries, keys and values in one matrix of this name
  bool qkv_bias = false;
  bool key_bias = true;   // where qkv_bias is set: Whisper and BEiT leave that of keys out
  bool output_bias = false;
  bool stored_in_out = false;
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  std::string query_norm = "q_norm", key_norm = "k_norm";
  Norm norm;
  bool causal = true;
  bool cached = true;  // keeps keys and values for later steps
  bool rotary = true;
  std::optional<int64_t> rotary_dim;  // none: the whole head
  std::optional<int64_t> window;      // a token sees itself and window - 1 before it
  std::optional<int64_t> block;       // not causal: sequences of this length each see themselves
  std::optional<int64_t> chunk;       // a token sees those of its chunk up to itself
  double softcap = 0;
  bool gated = false;          // queries come with a gate of the output, in one matrix
  bool value_is_key = false;   // no matrix of values: keys, before their norm, are values too
  bool value_norm = false;     // values are normalized without a scale
  std::string head_gate;       // a matrix [heads, hidden] that gates each head's output; empty: none
  std::optional<BlockSelection> selection;
  std::optional<int64_t> shared_with;  // keys and values are those of that layer
  bool keeps_unused = false;           // where shared, matrices of its own are stored all the same
  bool sinks = false;  // one learned logit per head
  std::string sinks_name = "sinks";
  std::vector<int64_t> sinks_dims;  // empty: [heads]; T5's table of relative positions
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

// Every query sees every key: [B, S, heads·head_dim] of queries, [B, T, …] of keys and values. With a
// block, sequences of that length each see themselves; `bias` (may be none) is added to the scores.
ValueId attend_to_all(GraphBuilder& builder, ValueId query, ValueId key, ValueId value, int64_t heads,
                      int64_t head_dim, int64_t block = 0, ValueId bias = {});

// Attention to the output of an encoder: its keys and values are computed in prefill and kept, decode
// only reads them. `encoded`: none in decode.
ValueId cross_attention(GraphBuilder& builder, ValueId x, ValueId encoded, const Attention& part,
                        const Expr& encoded_tokens, int64_t layer);

// The cache of keys and values of one layer: [batch, kv_heads, length, head_dim].
std::vector<GraphBuilder::CacheSpec> key_value_cache(const GraphBuilder& builder, int64_t layer,
                                                     const Attention& attention);

}  // namespace kcharter
