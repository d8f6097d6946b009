// Blocks of two streams, an image's and a text's, that attend to both together: SD3, FLUX,
// Qwen-Image (arXiv 2403.03206 §4). The step's vector shifts, scales and gates every block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/architecture/diffusion.h"

namespace kcharter {

struct Streams {
  ValueId image, text;
};

struct JointBlock {
  int64_t size = 0, heads = 0, head_dim = 0, inner = 0;
  bool bias = true, query_key_norm = true, rotary = true;
  bool last = false;   // the text is looked at, but not made anew
  bool dual = false;   // the image attends to itself alone once more
  bool gated = false;  // feed-forward blocks of linear_in and linear_out, SwiGLU between
  std::string image_modulation = "norm1.linear", text_modulation = "norm1_context.linear";
  std::string image_feed_forward = "ff", text_feed_forward = "ff_context";
  // Six vectors each where all blocks share them; empty: each block has its own.
  std::vector<ValueId> image_vectors, text_vectors;
};
Streams run_joint_block(GraphBuilder& builder, const JointBlock& part, Streams x, ValueId step);

// Normalizes each head where `norm` says so, then turns it by its position where `rotary` says so.
struct Heads {
  int64_t heads = 0, head_dim = 0;
  bool norm = true, rotary = true;
};
ValueId normalize_each_head(GraphBuilder& builder, ValueId x, std::string_view name,
                            const Heads& part);
ValueId attend_rotated(GraphBuilder& builder, ValueId query, ValueId key, ValueId value,
                       const Heads& part);

// The last norm, modulated, and the projection to patches.
ValueId finish_patches(GraphBuilder& builder, ValueId x, ValueId step, int64_t size, int64_t out,
                       bool bias = true);

}  // namespace kcharter
