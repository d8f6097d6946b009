// Grids: images and feature maps [B, C, H, W], their convolutions and norms, and the way between
// grids and sequences of tokens.
#pragma once

#include <cstdint>
#include <string>

#include "import/architecture/components.h"

namespace kcharter {

struct Convolution {
  std::string name;
  int64_t in = 0, out = 0;
  int64_t kernel = 1, stride = 1, padding = 0, groups = 1;
  bool bias = true;
  bool pad_end_only = false;  // `padding` after the last row and column, none before the first
};
ValueId convolve(GraphBuilder& builder, ValueId x, const Convolution& part);
// Stored as [in, out, kernel, kernel]; the grid grows by `stride`.
ValueId convolve_transposed(GraphBuilder& builder, ValueId x, const Convolution& part);

// Over groups of channels of one image.
ValueId normalize_grid(GraphBuilder& builder, ValueId x, std::string_view name, int64_t channels,
                       int64_t groups, double epsilon);
// Over the channels of each point.
ValueId normalize_points(GraphBuilder& builder, ValueId x, std::string_view name, int64_t channels);

// Each point `factor` times in both directions.
ValueId upsample(GraphBuilder& builder, ValueId x, int64_t factor);
// To the height and width of another grid.
ValueId upsample_like(GraphBuilder& builder, ValueId x, ValueId grid);

ValueId grid_to_tokens(GraphBuilder& builder, ValueId grid);
// [B, H·W, C] → [B, C, H, W] with height and width of `grid`.
ValueId tokens_to_grid(GraphBuilder& builder, ValueId tokens, ValueId grid);

// A free height and width in pixels, `size` by default.
struct ImageSize {
  Expr height, width;
};
ImageSize free_image_size(GraphBuilder& builder, int64_t size);

}  // namespace kcharter
