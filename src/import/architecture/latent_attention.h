// LatentAttention: multi-head latent attention. Keys and values of a token are one compressed vector;
// prefill expands it, decode absorbs the expansion into queries and outputs. With an indexer each
// query attends to the best `selected` keys only, in the absorbed form in both modes.
// DeepSeek-V2: arXiv 2405.04434 §2.1; sparse attention: DeepSeek-V3.2 report §2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/architecture/components.h"
#include "import/architecture/model_config.h"

namespace kcharter {

struct SparseIndexer {
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t selected = 0;
};

struct LatentAttention {
  std::string name = "self_attn";
  std::string class_name;
  int64_t hidden_size = 0;
  int64_t heads = 0;
  std::optional<int64_t> query_rank;  // none: one projection of queries
  int64_t kv_rank = 0;
  int64_t nope_dim = 0;
  int64_t rope_dim = 0;
  int64_t value_dim = 0;
  bool bias = false;
  bool rotary = true;
  std::string output_gate;  // a gate of the output before o_proj, [heads * value_dim, hidden]
  Norm norm;
  int64_t selected = 0;                  // keys a query attends to; 0: all
  std::optional<SparseIndexer> indexer;  // none with `selected`: an earlier layer's choice is used
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

LatentAttention latent_attention_of(const ModelConfig& config);

}  // namespace kcharter
