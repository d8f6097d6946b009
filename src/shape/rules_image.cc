// Operators on images and signals: Resize, sampling grids, transforms.
#include <algorithm>
#include <string>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

Dim scaled(const Dim& size, const MaybeElement& scale) {
  return integer(floor(multiply(element(size), scale)));
}

// Sizes asked for, under a policy that keeps the ratio of the axes: all numbers or unknown.
Dim size_under_policy(const std::string& policy, const Shape& input,
                      const std::vector<size_t>& axes, const Elements& sizes, size_t axis) {
  double ratio = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto target = constant(sizes[i]);
    const auto size = constant(input[axes[i]]);
    if (!target || !size || *size == 0) return std::nullopt;
    const double wanted = static_cast<double>(*target) / static_cast<double>(*size);
    const bool smaller = policy == "not_larger" ? wanted < ratio : wanted > ratio;
    if (i == 0 || smaller) ratio = wanted;
  }
  const auto size = constant(input[axis]);
  if (!size) return std::nullopt;
  const double resized = static_cast<double>(*size) * ratio + 0.5;
  return resized < 0x1p62 ? Dim(Expr(static_cast<int64_t>(resized))) : std::nullopt;
}

std::vector<size_t> resized_axes(const NodeInference& node, size_t rank) {
  if (const auto* axes = ints_attribute(node.node, "axes")) return normalize_axes(*axes, rank);
  std::vector<size_t> all;
  for (size_t i = 0; i < rank; ++i) all.push_back(i);
  return all;
}

// X, roi, scales, sizes; version 10 has X, scales.
void resize(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  const bool old = node.node.since_version > 0 && node.node.since_version < 11;
  const Elements* scales = node.elements(old ? 1 : 2);
  const Elements* sizes = old ? nullptr : node.elements(3);
  const std::vector<size_t> axes = resized_axes(node, shape->size());
  const std::string policy = string_attribute(node.node, "keep_aspect_ratio_policy", "stretch");
  Shape result = *shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = result[axes[i]];
    if (sizes != nullptr && sizes->size() == axes.size()) {
      dim = policy == "stretch" ? integer((*sizes)[i])
                                : size_under_policy(policy, *shape, axes, *sizes, axes[i]);
    } else if (scales != nullptr && scales->size() == axes.size()) {
      dim = scaled(dim, (*scales)[i]);
    } else {
      dim = std::nullopt;
    }
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

void upsample(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *shape;
  Elements scales;
  if (const Attribute* given = find_attribute(node.node, "scales")) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&given->value)) {
      for (const double number : *numbers) scales.push_back(element(number));
    }
  } else if (const Elements* input = node.elements(1)) {
    scales = *input;
  }
  scales.resize(result.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = scaled(result[i], scales[i]);
  node.set(0, node.input_dtype(0), std::move(result));
}

// X: [batch, channels, …], grid: [batch, output…, rank].
void grid_sample(NodeInference& node) {
  const Shape* grid = node.input_shape(1);
  if (grid == nullptr || grid->size() < 2) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result{node.input_dim(0, 0), node.input_dim(0, 1)};
  result.insert(result.end(), grid->begin() + 1, grid->end() - 1);
  node.set(0, node.input_dtype(0), std::move(result));
}

// size: [batch, channels, spatial…] → [batch, spatial…, number of spatial axes].
void affine_grid(NodeInference& node) {
  const Elements* size = node.elements(1);
  if (size == nullptr || size->size() < 2) {
    const auto rank = constant(node.input_dim(1, 0));
    if (!rank || *rank < 4 || *rank > 5) return node.set(0, node.input_dtype(0), std::nullopt);
    Shape ranked(static_cast<size_t>(*rank));
    ranked.front() = node.input_dim(0, 0);
    ranked.back() = Expr(*rank - 2);
    return node.set(0, node.input_dtype(0), std::move(ranked));
  }
  Shape result{integer(size->front())};
  for (size_t i = 2; i < size->size(); ++i) result.push_back(integer((*size)[i]));
  result.push_back(Expr(static_cast<int64_t>(size->size()) - 2));
  node.set(0, node.input_dtype(0), std::move(result));
}

// The last axis is 1 or 2: real, or real and imaginary.
void dft(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *shape;
  const bool attribute = node.node.since_version > 0 && node.node.since_version < 20;
  const std::optional<int64_t> at = attribute           ? int_attribute(node.node, "axis", 1)
                                    : node.has_input(2) ? constant(node.scalar(2))
                                                        : std::optional<int64_t>(-2);
  const bool one_sided = int_attribute(node.node, "onesided", 0) != 0;
  const bool inverse = int_attribute(node.node, "inverse", 0) != 0;
  result.back() = Expr(one_sided && inverse ? 1 : 2);
  if (!at) {
    for (size_t i = 0; i + 1 < result.size(); ++i) result[i] = std::nullopt;
    return node.set(0, node.input_dtype(0), std::move(result));
  }
  const size_t axis = normalize_axis(*at, result.size());
  if (node.has_input(1)) {
    result[axis] = integer(node.scalar(1));
  } else if (one_sided && inverse) {
    result[axis] = times(minus(result[axis], Expr(1)), Expr(2));
  }
  if (one_sided && !inverse) result[axis] = plus(floor_divided(result[axis], 2), Expr(1));
  node.set(0, node.input_dtype(0), std::move(result));
}

// signal, frame_step, window, frame_length → [batch, frames, bins, 2].
void stft(NodeInference& node) {
  const Dim frame = node.has_input(3) ? integer(node.scalar(3)) : node.input_dim(2, 0);
  const auto step = constant(node.scalar(1));
  const bool one_sided = int_attribute(node.node, "onesided", 1) != 0;
  const Dim frames =
      step ? plus(floor_divided(minus(node.input_dim(0, 1), frame), *step), Expr(1)) : Dim();
  const Dim bins = one_sided ? plus(floor_divided(frame, 2), Expr(1)) : frame;
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), frames, bins, Expr(2)});
}

void image_decoder(NodeInference& node) {
  const bool grey = string_attribute(node.node, "pixel_format", "RGB") == "Grayscale";
  node.set(0, DType::kUInt8,
           Shape{node.inference.data_dependent_dim(node.node, 0, "height", 1),
                 node.inference.data_dependent_dim(node.node, 0, "width", 1), Expr(grey ? 1 : 3)});
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "AffineGrid", affine_grid}, {kOnnx, "DFT", dft},
    {kOnnx, "GridSample", grid_sample}, {kOnnx, "ImageDecoder", image_decoder},
    {kOnnx, "Resize", resize},          {kOnnx, "STFT", stft},
    {kOnnx, "Upsample", upsample},      {kMicrosoft, "GridSample", grid_sample},
};

}  // namespace

ShapeRuleFamily image_shape_rules() { return kEntries; }

}  // namespace kcharter
