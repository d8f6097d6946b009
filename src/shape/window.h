// Window: kernel, strides, pads and dilations of a convolution or pooling, as its attributes give
// them, and what an axis becomes under it.
#pragma once

#include <vector>

#include "shape/inference.h"

namespace kcharter {

enum class AutoPad : uint8_t { kNone, kSame, kValid };

struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;  // pads: begins, then ends
  AutoPad auto_pad = AutoPad::kNone;
  bool ceil_mode = false;
};

// nullopt where the kernel's size is not known. Throws Error where the lists do not fit `rank`
// spatial axes or hold numbers no window has.
std::optional<Window> window_of(const NodeInference& node, size_t rank,
                                std::optional<std::vector<int64_t>> kernel);

// floor((size + pads − span)/stride) + 1 with span = (kernel − 1)·dilation + 1, or what auto_pad
// and ceil_mode make of it (ONNX operator specification, Conv and MaxPool).
Dim windows_along(const Dim& size, const Window& window, size_t axis);
// The size that such a window would have been slid over (ConvTranspose, MaxUnpool).
Dim size_before(const Dim& windows, const Window& window, size_t axis, int64_t output_padding);

}  // namespace kcharter
