// CompressedAttention: DeepSeek-V4's attention. One vector of a token is the key and the value of all
// heads; a query sees the last `window` tokens and, of earlier ones, entries that stand for `ratio`
// tokens each: all of them (ratio 128), or the best that an indexer chooses (ratio 4).
#pragma once

#include <cstdint>
#include <string>

#include "import/architecture/components.h"
#include "import/architecture/latent_attention.h"
#include "import/architecture/model_config.h"

namespace kcharter {

struct CompressedAttention {
  std::string name = "attn";
  int64_t hidden_size = 0;
  int64_t heads = 0, head_dim = 0, rope_dim = 0;
  int64_t query_rank = 0;
  int64_t output_rank = 0, output_groups = 1;  // heads are projected in groups, to this size each
  int64_t window = 128;
  int64_t ratio = 0;  // 0: the window alone
  SparseIndexer indexer;  // where the ratio is kIndexedRatio
  Norm norm;
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

// Entries of so many tokens overlap (each holds two halves) and are chosen by an indexer.
inline constexpr int64_t kIndexedRatio = 4;

CompressedAttention compressed_attention_of(const ModelConfig& config);

}  // namespace kcharter
