#include "shape/window.h"

#include <string>

namespace kcharter {
namespace {

// Larger numbers than these are no window's and would overflow.
constexpr int64_t kLimit = int64_t{1} << 40;

std::vector<int64_t> list(const NodeInference& node, std::string_view name, size_t size,
                          int64_t fallback, int64_t least) {
  const auto* given = ints_attribute(node.node, name);
  if (given == nullptr || given->empty()) return std::vector<int64_t>(size, fallback);
  if (given->size() != size) {
    throw Error(std::string(name) + " has " + std::to_string(given->size()) + " numbers, wanted " +
                std::to_string(size));
  }
  for (const int64_t number : *given) {
    if (number < least || number > kLimit) {
      throw Error(std::string(name) + " holds " + std::to_string(number));
    }
  }
  return *given;
}

int64_t span(const Window& window, size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

}  // namespace

std::optional<Window> window_of(const NodeInference& node, size_t rank,
                                std::optional<std::vector<int64_t>> kernel) {
  Window window;
  if (const auto* given = ints_attribute(node.node, "kernel_shape"); given && !given->empty()) {
    window.kernel = list(node, "kernel_shape", rank, 1, 1);
  } else if (kernel && kernel->size() == rank) {
    window.kernel = *kernel;
  } else {
    return std::nullopt;
  }
  for (const int64_t size : window.kernel) {
    if (size < 0 || size > (int64_t{1} << 31)) throw Error("a kernel of " + std::to_string(size));
  }
  window.strides = list(node, "strides", rank, 1, 1);
  window.dilations = list(node, "dilations", rank, 1, 1);
  window.pads = list(node, "pads", 2 * rank, 0, -kLimit);
  for (const int64_t dilation : window.dilations) {
    if (dilation > (int64_t{1} << 31)) throw Error("a dilation of " + std::to_string(dilation));
  }
  const std::string auto_pad = string_attribute(node.node, "auto_pad", "NOTSET");
  if (auto_pad.starts_with("SAME")) window.auto_pad = AutoPad::kSame;
  if (auto_pad == "VALID") window.auto_pad = AutoPad::kValid;
  window.ceil_mode = int_attribute(node.node, "ceil_mode", 0) != 0;
  return window;
}

Dim windows_along(const Dim& size, const Window& window, size_t axis) {
  if (!size) return std::nullopt;
  const int64_t stride = window.strides[axis];
  if (window.auto_pad == AutoPad::kSame) return ceil_div(*size, Expr(stride));
  const bool valid = window.auto_pad == AutoPad::kValid;
  const int64_t before = valid ? 0 : window.pads[axis];
  const int64_t after = valid ? 0 : window.pads[axis + window.kernel.size()];
  const Expr room = *size + Expr(before + after - span(window, axis));
  if (!window.ceil_mode) return floor_div(room, Expr(stride)) + 1;
  const Expr rounded_up = ceil_div(room, Expr(stride)) + 1;
  if (after + stride <= span(window, axis)) return rounded_up;
  // A window that would start in the padding behind the data does not exist.
  return min(rounded_up, floor_div(*size + Expr(before - 1), Expr(stride)) + 1);
}

Dim size_before(const Dim& windows, const Window& window, size_t axis, int64_t output_padding) {
  if (!windows) return std::nullopt;
  const int64_t stride = window.strides[axis];
  if (window.auto_pad == AutoPad::kSame) return *windows * Expr(stride);
  const bool valid = window.auto_pad == AutoPad::kValid;
  const int64_t pads = valid ? 0 : window.pads[axis] + window.pads[axis + window.kernel.size()];
  return (*windows - 1) * Expr(stride) + Expr(output_padding + span(window, axis) - pads);
}

}  // namespace kcharter
