// Layers that keep a state of one size instead of a cache that grows: gated delta rule, lightning
// attention, Mamba 1 and 2, short convolutions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/architecture/components.h"
#include "import/architecture/model_config.h"

namespace kcharter {

// The state "past_key_values.<layer>.<part>" of shape [batch, dims …].
GraphBuilder::CacheSpec state_cache(const GraphBuilder& builder, int64_t layer, std::string_view part,
                                    const std::vector<int64_t>& dims, std::optional<DType> dtype);

// Depthwise over the last `kernel` tokens, as module `name`, then `activation` (empty: none).
ValueId causal_convolution(GraphBuilder& builder, ValueId x, std::string_view name, int64_t channels,
                           int64_t kernel, bool bias, std::string_view activation, int64_t layer,
                           std::string_view part = "conv");

// y [B, S, width] from a state of `state` elements a sequence.
struct Recurrence {
  const char* op_type = "";
  std::vector<int64_t> state;
  int64_t width = 0;
  int64_t products = 2;
  std::optional<DType> dtype;  // none: that of activations
};
ValueId recur(GraphBuilder& builder, std::vector<ValueId> inputs, const Recurrence& recurrence, int64_t layer);

// Normalizes each head of a wide vector: [B, S, heads·size].
ValueId normalize_groups(GraphBuilder& builder, ValueId x, std::string_view name, int64_t heads, int64_t size,
                         const Norm& norm);

// Qwen3-Next, Qwen3.5: arXiv 2412.06464.
struct GatedDeltaNet {
  std::string name = "linear_attn";
  int64_t hidden_size = 0;
  int64_t key_heads = 0, value_heads = 0;
  int64_t key_dim = 0, value_dim = 0;  // of one head
  int64_t kernel = 4;
  std::optional<DType> decay_dtype;  // of A_log and the output norm, where not that of all weights
  bool fused = false;  // in_proj_qkvz and in_proj_ba rather than four projections
  Norm norm;
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};
GatedDeltaNet gated_delta_net_of(const ModelConfig& config);

// arXiv 2312.00752.
struct Mamba1 {
  std::string name = "mixer";
  int64_t hidden_size = 0, inner_size = 0, state_size = 16, kernel = 4, step_rank = 0;
  bool convolution_bias = true, projection_bias = false;
  bool inner_norms = false;  // Jamba: norms of dt, B and C
  Norm norm;
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

// arXiv 2405.21060.
struct Mamba2 {
  std::string name = "mixer";
  int64_t hidden_size = 0, heads = 0, head_dim = 64, state_size = 128, groups = 1, kernel = 4;
  bool convolution_bias = true, projection_bias = false;
  bool gated_norm = true;
  std::optional<DType> state_dtype;
  Norm norm;
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

}  // namespace kcharter
