// What networks that remove noise are made of: the step as a vector, blocks it modulates, residual
// blocks on grids. Names are those of diffusers.
#pragma once

#include <cstdint>
#include <string>

#include "import/architecture/convolution.h"
#include "import/architecture/model_config.h"

namespace kcharter {

// [B, C, height/8, width/8]: a latent image; its height and width in pixels are free. Silent: none.
ValueId latent_input(GraphBuilder& builder, int64_t channels, int64_t image_size);
// Patches of a latent image as a sequence [B, height/16·width/16, width].
ValueId latent_tokens_input(GraphBuilder& builder, int64_t width, int64_t image_size);
// Tokens of the text, from another model: [B, text_sequence_length, width].
ValueId text_input(GraphBuilder& builder, int64_t width, int64_t tokens);

// linear_1, SiLU, linear_2.
ValueId embed_vector(GraphBuilder& builder, ValueId x, std::string_view name, int64_t in,
                     int64_t size, bool bias = true);
// The number of a step as sines and cosines, then as above: [B, 1, size].
ValueId embed_timestep(GraphBuilder& builder, std::string_view input, std::string_view name,
                       int64_t in, int64_t size, bool bias = true);

// `count` vectors that shift, scale and gate a block, made from the step's vector.
std::vector<ValueId> modulations(GraphBuilder& builder, ValueId step, std::string_view name,
                                 int64_t size, int64_t count, bool bias = true);
// x · (1 + scale) + shift after a norm without weights.
ValueId modulated_norm(GraphBuilder& builder, ValueId x, ValueId shift, ValueId scale);
// x + gate · change.
ValueId add_gated(GraphBuilder& builder, ValueId x, ValueId gate, ValueId change);

// net.0.proj, activation, net.2. "geglu" and "swiglu" split the first layer's output in two.
ValueId diffusion_feed_forward(GraphBuilder& builder, ValueId x, std::string_view name,
                               int64_t size, int64_t inner, std::string_view activation);

// norm, SiLU, convolution, twice, added to the input; `step` (may be none) is added between.
struct ResidualGrid {
  int64_t in = 0, out = 0, groups = 32;
  double epsilon = 1e-5;
  int64_t step_size = 0;     // 0: the block does not know the step
  bool scale_shift = false;  // the step scales and shifts instead of being added
};
ValueId run_residual(GraphBuilder& builder, ValueId grid, ValueId step, const ResidualGrid& part);

}  // namespace kcharter
