// Quantization: what changes is the type.
#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

void quantize_linear(NodeInference& node) {
  DType dtype = node.input_dtype(2);
  if (!node.has_input(2)) {
    const DType asked = dtype_of_onnx(int_attribute(node.node, "output_dtype", 0));
    dtype = asked == DType::kUnknown ? DType::kUInt8 : asked;
  }
  node.set(0, dtype, node.input(0).shape);
}

void dequantize_linear(NodeInference& node) {
  const DType asked = dtype_of_onnx(int_attribute(node.node, "output_dtype", 0));
  node.set(0, asked == DType::kUnknown ? node.input_dtype(1) : asked, node.input(0).shape);
}

void dynamic_quantize_linear(NodeInference& node) {
  node.set(0, DType::kUInt8, node.input(0).shape);
  node.set(1, DType::kF32, Shape{});
  node.set(2, DType::kUInt8, Shape{});
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale, c_zero_point
void qlinear_binary(NodeInference& node) {
  const auto shape = broadcast(node, node.input_shape(0), node.input_shape(3));
  node.set(0, node.input_dtype(0), shape);
}

// y_scale, y_zero_point, then (x, x_scale, x_zero_point) for each part.
void qlinear_concat(NodeInference& node) {
  const Shape* first = node.input_shape(2);
  if (first == nullptr) return node.set(0, node.input_dtype(2), std::nullopt);
  Shape result = *first;
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), result.size());
  for (size_t i = 5; i < node.input_count(); i += 3) {
    result[axis] = plus(result[axis], node.input_dim(i, static_cast<int64_t>(axis)));
  }
  node.set(0, node.input_dtype(2), std::move(result));
}

// condition, x, x_scale, x_zero_point, y, …
void qlinear_where(NodeInference& node) {
  const auto both = broadcast(node, node.input_shape(1), node.input_shape(4));
  node.set(0, node.input_dtype(1), broadcast(node, node.input_shape(0), both ? &*both : nullptr));
}

void qlinear_reduce_mean(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto* axes = ints_attribute(node.node, "axes");
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  std::vector<bool> gone(shape->size(), axes == nullptr);
  if (axes != nullptr) {
    for (const size_t axis : normalize_axes(*axes, shape->size())) gone[axis] = true;
  }
  const bool keep = int_attribute(node.node, "keepdims", 1) != 0;
  Shape result;
  for (size_t i = 0; i < shape->size(); ++i) {
    if (!gone[i])
      result.push_back((*shape)[i]);
    else if (keep)
      result.push_back(Expr(1));
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// Two 4-bit numbers in a byte, and one scale for 16 of them.
void fp4_dynamic_quantize(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  node.set(0, DType::kF4E2M1, node.input(0).shape);
  if (shape == nullptr || shape->empty()) return node.set(1, DType::kF8E4M3FN, std::nullopt);
  const int64_t block = int_attribute(node.node, "block_size", 16);
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", -1), shape->size());
  Shape scales = *shape;
  scales[axis] = ceil_divided(scales[axis], block);
  node.set(1, DType::kF8E4M3FN, std::move(scales));
}

void mxfp8_dynamic_quantize(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  node.set(0, DType::kF8E4M3FN, node.input(0).shape);
  if (shape == nullptr || shape->empty()) return node.set(1, DType::kF8E8M0, std::nullopt);
  Shape scales = *shape;
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", -1), shape->size());
  scales[axis] = ceil_divided(scales[axis], int_attribute(node.node, "block_size", 32));
  node.set(1, DType::kF8E8M0, std::move(scales));
}

void fp8_quantize(NodeInference& node) { node.set(0, DType::kF8E4M3FN, node.input(0).shape); }

// Its output type is an attribute of ModelOpt's, or the scale's.
void mx_dequantize(NodeInference& node) {
  const DType asked = dtype_of_onnx(int_attribute(node.node, "output_dtype", 0));
  node.set(0, asked == DType::kUnknown ? DType::kF32 : asked, node.input(0).shape);
}

// bounding boxes of bytes, the shape, its strides.
void dequantize_bfp(NodeInference& node) {
  std::optional<Shape> result;
  if (const Elements* sizes = node.elements(1)) {
    result.emplace();
    for (const MaybeElement& size : *sizes) result->push_back(integer(size));
  }
  node.set(0, dtype_of_onnx(int_attribute(node.node, "dtype", 1)), std::move(result));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "DequantizeLinear", dequantize_linear},
    {kOnnx, "DynamicQuantizeLinear", dynamic_quantize_linear},
    {kOnnx, "QuantizeLinear", quantize_linear},
    {kMicrosoft, "DequantizeLinear", dequantize_linear},
    {kMicrosoft, "DequantizeBFP", dequantize_bfp},
    {kMicrosoft, "QLinearAdd", qlinear_binary},
    {kMicrosoft, "QLinearConcat", qlinear_concat},
    {kMicrosoft, "QLinearLeakyRelu", same_as_first_input},
    {kMicrosoft, "QLinearMul", qlinear_binary},
    {kMicrosoft, "QLinearReduceMean", qlinear_reduce_mean},
    {kMicrosoft, "QLinearSigmoid", same_as_first_input},
    {kMicrosoft, "QLinearSoftmax", same_as_first_input},
    {kMicrosoft, "QLinearWhere", qlinear_where},
    {kMicrosoft, "QuantizeLinear", quantize_linear},
    {"trt", "TRT_FP4DynamicQuantize", fp4_dynamic_quantize},
    {"trt", "TRT_FP8DequantizeLinear", dequantize_linear},
    {"trt", "TRT_FP8QuantizeLinear", fp8_quantize},
    {"trt", "TRT_INT4DequantizeLinear", dequantize_linear},
    {"trt", "TRT_INT4QuantizeLinear", quantize_linear},
    {"trt", "TRT_MXFP8DequantizeLinear", mx_dequantize},
    {"trt", "TRT_MXFP8DynamicQuantize", mxfp8_dynamic_quantize},
};

}  // namespace

ShapeRuleFamily quantization_shape_rules() { return kEntries; }

}  // namespace kcharter
