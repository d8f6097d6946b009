// Convolution and pooling.
#include <algorithm>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"
#include "shape/window.h"

namespace kcharter {
namespace {

// Sizes of shape[begin, end) where all are numbers.
std::optional<std::vector<int64_t>> sizes(const Shape* shape, size_t begin, size_t end) {
  if (shape == nullptr || shape->size() < end) return std::nullopt;
  std::vector<int64_t> result;
  for (size_t i = begin; i < end; ++i) {
    const auto size = constant((*shape)[i]);
    if (!size) return std::nullopt;
    result.push_back(*size);
  }
  return result;
}

void check_channels(const NodeInference& node, const Dim& channels, const Dim& per_group) {
  const int64_t groups = int_attribute(node.node, "group", 1);
  if (groups < 1) throw Error("group is " + std::to_string(groups));
  check_same(node, channels, times(per_group, Expr(groups)), "channels of input and weight");
}

// X: [batch, channels, spatial…], W: [filters, channels/group, kernel…].
void set_convolution(NodeInference& node, size_t x, size_t w, DType dtype, bool channels_last) {
  const Shape* input = node.input_shape(x);
  const Shape* weight = node.input_shape(w);
  if (input == nullptr || input->size() < 3) {
    if (input != nullptr) throw Error("an input of rank " + std::to_string(input->size()));
    return node.set(0, dtype,
                    weight == nullptr ? std::nullopt : std::optional(Shape(weight->size())));
  }
  const size_t rank = input->size() - 2;
  const size_t first = channels_last ? 1 : 2;  // of the spatial axes
  if (weight != nullptr && weight->size() != input->size()) {
    throw Error("ranks of input and weight differ: " + std::to_string(input->size()) + " and " +
                std::to_string(weight->size()));
  }
  if (weight != nullptr) {
    const size_t channel_axis = channels_last ? rank + 1 : 1;
    check_channels(node, (*input)[channel_axis], (*weight)[channel_axis]);
  }
  const auto window = window_of(node, rank, sizes(weight, first, first + rank));
  Shape result(input->size());
  result[0] = (*input)[0];
  result[channels_last ? rank + 1 : 1] = weight == nullptr ? std::nullopt : (*weight)[0];
  for (size_t i = 0; window && i < rank; ++i) {
    result[first + i] = windows_along((*input)[first + i], *window, i);
  }
  node.set(0, dtype, std::move(result));
}

void conv(NodeInference& node) { set_convolution(node, 0, 1, first_dtype(node, {0, 1}), false); }
void conv_integer(NodeInference& node) { set_convolution(node, 0, 1, DType::kInt32, false); }
void nhwc_conv(NodeInference& node) { set_convolution(node, 0, 1, node.input_dtype(0), true); }

// x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias
void qlinear_conv(NodeInference& node) {
  set_convolution(node, 0, 3, first_dtype(node, {7, 0}),
                  int_attribute(node.node, "channels_last", 0) != 0);
}

// W: [channels, filters/group, kernel…].
void conv_transpose(NodeInference& node) {
  const Shape* input = node.input_shape(0);
  const Shape* weight = node.input_shape(1);
  const DType dtype = first_dtype(node, {0, 1});
  if (input == nullptr || weight == nullptr) return node.set(0, dtype, std::nullopt);
  if (input->size() < 3 || weight->size() != input->size()) {
    throw Error("ranks of input and weight: " + std::to_string(input->size()) + " and " +
                std::to_string(weight->size()));
  }
  const size_t rank = input->size() - 2;
  const int64_t groups = int_attribute(node.node, "group", 1);
  if (groups < 1) throw Error("group is " + std::to_string(groups));
  Shape result(input->size());
  result[0] = (*input)[0];
  result[1] = times((*weight)[1], Expr(groups));
  const auto* fixed = ints_attribute(node.node, "output_shape");
  const auto* padding = ints_attribute(node.node, "output_padding");
  const auto window = window_of(node, rank, sizes(weight, 2, 2 + rank));
  for (size_t i = 0; i < rank; ++i) {
    if (fixed != nullptr && fixed->size() >= rank) {
      result[2 + i] = Expr((*fixed)[fixed->size() - rank + i]);
    } else if (window) {
      const int64_t extra = padding != nullptr && i < padding->size() ? (*padding)[i] : 0;
      result[2 + i] = size_before((*input)[2 + i], *window, i, extra);
    }
  }
  node.set(0, dtype, std::move(result));
}

void set_pool(NodeInference& node, size_t input_index, DType dtype, bool channels_last) {
  const Shape* input = node.input_shape(input_index);
  if (input == nullptr) return node.set(0, dtype, std::nullopt);
  if (input->size() < 3) throw Error("an input of rank " + std::to_string(input->size()));
  const size_t rank = input->size() - 2;
  const size_t first = channels_last ? 1 : 2;
  const auto window = window_of(node, rank, std::nullopt);
  Shape result = *input;
  for (size_t i = 0; i < rank; ++i) {
    result[first + i] = window ? windows_along((*input)[first + i], *window, i) : std::nullopt;
  }
  node.set(0, dtype, std::move(result));
}

void pool(NodeInference& node) {
  set_pool(node, 0, node.input_dtype(0), false);
  if (node.has_output(1)) node.set(1, DType::kInt64, node.graph[node.node.outputs[0]].type.shape);
}

void qlinear_pool(NodeInference& node) {
  set_pool(node, 0, node.input_dtype(0), int_attribute(node.node, "channels_last", 0) != 0);
}

void nhwc_pool(NodeInference& node) { set_pool(node, 0, node.input_dtype(0), true); }

void global_pool(NodeInference& node) {
  const Shape* input = node.input_shape(0);
  if (input == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *input;
  const bool channels_last = int_attribute(node.node, "channels_last", 0) != 0;
  const size_t first = channels_last ? 1 : 2;
  const size_t last = channels_last && !result.empty() ? result.size() - 1 : result.size();
  for (size_t i = first; i < last; ++i) result[i] = Expr(1);
  node.set(0, node.input_dtype(0), std::move(result));
}

void max_unpool(NodeInference& node) {
  const Shape* input = node.input_shape(0);
  if (input == nullptr || input->size() < 3) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *input;
  const Elements* fixed = node.elements(2);
  const auto window = window_of(node, input->size() - 2, std::nullopt);
  for (size_t i = 0; i < input->size(); ++i) {
    if (node.has_input(2)) {
      result[i] = fixed != nullptr && i < fixed->size() ? integer((*fixed)[i]) : std::nullopt;
    } else if (i >= 2) {
      result[i] = window ? size_before((*input)[i], *window, i - 2, 0) : std::nullopt;
    }
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

void max_roi_pool(NodeInference& node) {
  const auto* pooled = ints_attribute(node.node, "pooled_shape");
  Shape result{node.input_dim(1, 0), node.input_dim(0, 1), std::nullopt, std::nullopt};
  if (pooled != nullptr && pooled->size() == 2) {
    result[2] = Expr((*pooled)[0]);
    result[3] = Expr((*pooled)[1]);
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

void roi_align(NodeInference& node) {
  const Dim rois = node.input_dim(1, 0) ? node.input_dim(1, 0) : node.input_dim(2, 0);
  node.set(0, node.input_dtype(0),
           Shape{rois, node.input_dim(0, 1), Expr(int_attribute(node.node, "output_height", 1)),
                 Expr(int_attribute(node.node, "output_width", 1))});
}

// columns: [batch, channels·∏block, positions] → [batch, channels, image…].
void col2im(NodeInference& node) {
  const Elements* image = node.elements(1);
  const Elements* block = node.elements(2);
  Shape result{node.input_dim(0, 0), std::nullopt};
  if (block != nullptr) {
    Dim area = Expr(1);
    for (const MaybeElement& size : *block) area = times(area, integer(size));
    if (const auto number = constant(area))
      result[1] = floor_divided(node.input_dim(0, 1), *number);
  }
  const auto axes = constant(node.input_dim(1, 0));
  if (image != nullptr) {
    for (const MaybeElement& size : *image) result.push_back(integer(size));
  } else if (axes && *axes >= 0 && *axes < 8) {
    result.resize(2 + static_cast<size_t>(*axes));
  } else {
    return node.set(0, node.input_dtype(0), std::nullopt);
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// The channel axis of a blocked tensor is given back its real length.
void reorder_output(NodeInference& node) {
  const Shape* input = node.input_shape(0);
  if (input == nullptr || input->size() < 2) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *input;
  result[1] = Expr(int_attribute(node.node, "channels", 0));
  if (int_attribute(node.node, "channels_last", 0) != 0) {
    std::rotate(result.begin() + 1, result.begin() + 2, result.end());
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "AveragePool", pool},
    {kOnnx, "Col2Im", col2im},
    {kOnnx, "Conv", conv},
    {kOnnx, "ConvInteger", conv_integer},
    {kOnnx, "ConvTranspose", conv_transpose},
    {kOnnx, "DeformConv", conv},
    {kOnnx, "GlobalAveragePool", global_pool},
    {kOnnx, "GlobalLpPool", global_pool},
    {kOnnx, "GlobalMaxPool", global_pool},
    {kOnnx, "LpPool", pool},
    {kOnnx, "MaxPool", pool},
    {kOnnx, "MaxRoiPool", max_roi_pool},
    {kOnnx, "MaxUnpool", max_unpool},
    {kOnnx, "QLinearConv", qlinear_conv},
    {kOnnx, "RoiAlign", roi_align},
    {kMicrosoft, "ConvTransposeWithDynamicPads", conv_transpose},
    {kMicrosoft, "FusedConv", conv},
    {kMicrosoft, "NhwcConv", nhwc_conv},
    {kMicrosoft, "NhwcFusedConv", nhwc_conv},
    {kMicrosoft, "NhwcMaxPool", nhwc_pool},
    {kMicrosoft, "QLinearAveragePool", qlinear_pool},
    {kMicrosoft, "QLinearConv", qlinear_conv},
    {kMicrosoft, "QLinearGlobalAveragePool", global_pool},
    {kMicrosoftNchwc, "AveragePool", pool},
    {kMicrosoftNchwc, "Conv", conv},
    {kMicrosoftNchwc, "GlobalAveragePool", global_pool},
    {kMicrosoftNchwc, "GlobalMaxPool", global_pool},
    {kMicrosoftNchwc, "MaxPool", pool},
    {kMicrosoftNchwc, "ReorderInput", same_as_first_input},
    {kMicrosoftNchwc, "ReorderOutput", reorder_output},
};

}  // namespace

ShapeRuleFamily convolution_shape_rules() { return kEntries; }

}  // namespace kcharter
