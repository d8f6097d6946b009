// Pooling, resampling and signal operators.
#include <algorithm>

#include "ops/common_work.h"

namespace kcharter {
namespace {

// One operation per element under the kernel.
Work pool_work(const Graph& graph, const Node& node) {
  Dim count = output_elements(graph, node);
  const std::vector<int64_t>* kernel = ints_attribute(node, "kernel_shape");
  if (kernel == nullptr) return {.elementwise_flops = std::nullopt};
  for (int64_t extent : *kernel) count = times(count, Expr(extent));
  return {.elementwise_flops = count};
}

// Nearest moves data; linear weighs 2 neighbours an axis, cubic 4, each a multiply-add; the two
// leading axes are taken as not resampled.
Work resize_work(const Graph& graph, const Node& node) {
  std::string mode = string_attribute(node, "mode", "nearest");
  if (mode == "nearest") return {};
  const Shape* shape = output_shape(graph, node, 0);
  if (shape == nullptr) return {.elementwise_flops = std::nullopt};
  int bits_of_taps = mode == "cubic" ? 2 : 1;
  int axes = std::clamp<int>(static_cast<int>(shape->size()) - 2, 1, 8);
  return {.elementwise_flops =
              times(Expr(2 * (int64_t{1} << (bits_of_taps * axes))), output_elements(graph, node))};
}

// Bilinear: 4 neighbours, a multiply-add each, and their weights.
Work bilinear_sample_work(const Graph& graph, const Node& node) {
  return {.elementwise_flops = times(Expr(12), output_elements(graph, node))};
}

// 5·N·log2 N of a fast transform needs the logarithm of a symbol; the plain transform is counted:
// a complex multiply-add (8) per pair of input and output frequency.
Work dft_work(const Graph& graph, const Node& node) {
  const Shape* shape = input_shape(graph, node, 0);
  if (shape == nullptr || shape->size() < 2) return {.elementwise_flops = std::nullopt};
  int64_t axis = int_attribute(node, "axis", -2);
  Dim length = input_dim(graph, node, 0, static_cast<int>(std::clamp<int64_t>(axis, -8, 8)));
  return {.elementwise_flops = times(times(Expr(4), length), output_elements(graph, node))};
}

// Output [batch, frames, bins, 2]: each bin is a sum over the window.
Work stft_work(const Graph& graph, const Node& node) {
  Dim window = input_dim(graph, node, 2, 0);
  if (!window && has_input(node, 3)) {
    const auto& elements = graph[node.inputs[3]].elements;
    if (elements != nullptr && elements->size() == 1) window = elements->front();
  }
  return {.elementwise_flops = times(times(Expr(2), window), output_elements(graph, node))};
}

}  // namespace

OperatorFamily pooling_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "MaxPool", {.work = pool_work}},
      {kOnnx, "AveragePool", {.work = pool_work}},
      {kOnnx, "LpPool", {.work = pool_work}},
      {kOnnx, "GlobalAveragePool", {.work = per_input_element<1>}},
      {kOnnx, "GlobalMaxPool", {.work = per_input_element<1>}},
      {kOnnx, "GlobalLpPool", {.work = per_input_element<2>}},
      {kOnnx, "MaxUnpool", {.work = moves_data}},
      {kOnnx, "MaxRoiPool", {.work = per_input_element<1>}},
      {kOnnx, "RoiAlign", {.work = bilinear_sample_work}},
      {kOnnx, "Resize", {.work = resize_work}},
      {kOnnx, "Upsample", {.work = resize_work}},
      {kOnnx, "GridSample", {.work = bilinear_sample_work}},
      {kOnnx, "AffineGrid", {.work = per_output_element<6>}},
      {kOnnx, "DFT", {.work = dft_work}},
      {kOnnx, "STFT", {.work = stft_work}},
      {kOnnx, "BlackmanWindow", {.work = per_output_element<6>}},
      {kOnnx, "HammingWindow", {.work = per_output_element<4>}},
      {kOnnx, "HannWindow", {.work = per_output_element<4>}},
      {kOnnx, "MelWeightMatrix", {.work = per_output_element<4>}},
      {kMicrosoft, "NhwcMaxPool", {.work = pool_work}},
      {kMicrosoft, "QLinearAveragePool", {.work = pool_work}},
      {kMicrosoft, "QLinearGlobalAveragePool", {.work = per_input_element<1>}},
      {kMicrosoft, "GridSample", {.work = bilinear_sample_work}},
      {kMicrosoftNchwc, "MaxPool", {.work = pool_work}},
      {kMicrosoftNchwc, "AveragePool", {.work = pool_work}},
      {kMicrosoftNchwc, "GlobalAveragePool", {.work = per_input_element<1>}},
      {kMicrosoftNchwc, "GlobalMaxPool", {.work = per_input_element<1>}},
      {kMicrosoftNchwc, "Upsample", {.work = resize_work}},
  };
  return kEntries;
}

}  // namespace kcharter
