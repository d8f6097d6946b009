// Quantizing and dequantizing, and operators on weights packed in blocks.
#include "ops/common_work.h"

namespace kcharter {
namespace {

// maximum, minimum, scale, quotient, round, clip.
constexpr int kDynamicQuantize = 6;

int64_t positive(const Node& node, std::string_view name, int64_t fallback) {
  int64_t value = int_attribute(node, name, fallback);
  return value > 0 && value <= INT32_MAX ? value : fallback;
}

// A [.., K], B packed [N, K/block, block·bits/8].
Work matmul_bits_work(const Graph& graph, const Node& node) {
  int64_t columns = positive(node, "N", 0);
  Dim a = input_elements(graph, node, 0);
  Work work{.flops = times(Expr(2 * columns), a)};
  if (columns == 0) work.flops = std::nullopt;
  if (has_input(node, 5)) work.elementwise_flops = output_elements(graph, node);
  return work;
}

std::optional<int64_t> matmul_bits_elements(const Graph&, const Node& node, size_t input) {
  int64_t rows = positive(node, "K", 0);
  int64_t columns = positive(node, "N", 0);
  if (input != 1 || rows == 0 || columns == 0) return std::nullopt;
  return rows * columns;  // both are below 2^31
}

// Stored elements times the numbers packed in one byte of uint8; int4 and uint4 tensors count their
// elements already.
std::optional<int64_t> unpacked(const Graph& graph, const Node& node, size_t input, int64_t bits) {
  if (!has_input(node, input)) return std::nullopt;
  const Value& value = graph[node.inputs[input]];
  if (value.type.dtype != DType::kUInt8 || bits <= 0 || bits >= 8) return std::nullopt;
  int64_t count = constant_up_to(element_count(value.type), INT64_MAX / 8);
  if (count < 0) return std::nullopt;
  return count * (8 / bits);
}

// data [.., ceil(D/pack)], indices, scales [.., D/block], zero points: the rows fetched.
Work gather_block_work(const Graph& graph, const Node& node) {
  Dim outputs = output_elements(graph, node);
  Dim indices = input_elements(graph, node, 1);
  int64_t block = positive(node, "block_size", 128);
  int64_t bits = positive(node, "bits", 4);
  Work work{.elementwise_flops = times(Expr(2), outputs)};
  if (!outputs) return work;
  bool packed = graph[node.inputs[0]].type.dtype == DType::kUInt8 && bits < 8;
  Expr per_byte(packed ? 8 / bits : int64_t{1});
  Expr scales = ceil_div(*outputs, Expr(block));
  work.read_elements = {ceil_div(*outputs, per_byte), indices, scales, ceil_div(scales, per_byte)};
  return work;
}

std::optional<int64_t> gather_block_elements(const Graph& graph, const Node& node, size_t input) {
  if (input != 0) return std::nullopt;
  return unpacked(graph, node, input, positive(node, "bits", 4));
}

TensorPart dequantize_part(const Node&, size_t input) { return part_at("psz", input); }
TensorPart quantize_part(const Node&, size_t input) { return part_at(".sz", input); }
TensorPart ordered_gelu_part(const Node&, size_t input) { return part_at("pss", input); }
TensorPart integer_mul_part(const Node&, size_t input) { return part_at("pzpz", input); }
TensorPart bits_part(const Node&, size_t input) { return part_at(".pszm.", input); }
TensorPart bnb_part(const Node&, size_t input) { return part_at(".ps", input); }
TensorPart gather_block_part(const Node&, size_t input) { return part_at("p.sz", input); }
TensorPart unary_part(const Node&, size_t input) { return part_at("pszsz", input); }
TensorPart binary_part(const Node&, size_t input) { return part_at("pszpszsz", input); }
// Y's scale and zero point, then (X, scale, zero point) again and again.
TensorPart concat_part(const Node&, size_t input) {
  return input < 2 ? part_at("sz", input) : part_at("psz", (input - 2) % 3);
}

constexpr OperatorInfo kDequantize{
    .is_weight_transform = true, .work = per_output_element<2>, .tensor_part = dequantize_part};
constexpr OperatorInfo kQuantize{.work = per_output_element<3>, .tensor_part = quantize_part};
constexpr OperatorInfo kUnary{.work = per_output_element<3>, .tensor_part = unary_part};
constexpr OperatorInfo kBinary{.work = per_output_element<6>, .tensor_part = binary_part};

}  // namespace

OperatorFamily quantization_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "QuantizeLinear", kQuantize},
      {kOnnx, "DequantizeLinear", kDequantize},
      {kOnnx, "DynamicQuantizeLinear", {.work = per_output_element<kDynamicQuantize>}},
      {kMicrosoft, "QuantizeLinear", kQuantize},
      {kMicrosoft, "DequantizeLinear", kDequantize},
      {kMicrosoft, "QuantizeWithOrder", kQuantize},
      {kMicrosoft, "DequantizeWithOrder", kDequantize},
      {kMicrosoft,
       "QOrderedGelu",
       {.work = per_output_element<7>, .tensor_part = ordered_gelu_part}},
      {kMicrosoft, "MulInteger", {.work = per_output_element<3>, .tensor_part = integer_mul_part}},
      {kMicrosoft, "FakeQuant", {.work = per_output_element<4>}},
      {kMicrosoft, "DequantizeBFP", kDequantize},
      {kMicrosoft, "QuantizeBFP", kQuantize},
      {kMicrosoft,
       "MatMulNBits",
       {.work = matmul_bits_work,
        .logical_elements = matmul_bits_elements,
        .tensor_part = bits_part}},
      {kMicrosoft,
       "MatMulFpQ4",
       {.work = matmul_bits_work,
        .logical_elements = matmul_bits_elements,
        .tensor_part = bnb_part}},
      {kMicrosoft,
       "MatMulBnb4",
       {.work = matmul_bits_work,
        .logical_elements = matmul_bits_elements,
        .tensor_part = bnb_part}},
      {kMicrosoft,
       "GatherBlockQuantized",
       {.work = gather_block_work,
        .logical_elements = gather_block_elements,
        .tensor_part = gather_block_part}},
      {kMicrosoft, "QLinearAdd", kBinary},
      {kMicrosoft, "QLinearMul", kBinary},
      {kMicrosoft, "QLinearWhere", kBinary},
      {kMicrosoft, "QLinearSigmoid", kUnary},
      {kMicrosoft, "QLinearLeakyRelu", kUnary},
      {kMicrosoft, "QLinearConcat", {.work = moves_data, .tensor_part = concat_part}},
      {"trt", "TRT_FP8QuantizeLinear", kQuantize},
      {"trt", "TRT_INT4QuantizeLinear", kQuantize},
      {"trt", "TRT_FP8DequantizeLinear", kDequantize},
      {"trt", "TRT_INT4DequantizeLinear", kDequantize},
      {"trt", "TRT_MXFP8DequantizeLinear", kDequantize},
      {"trt", "TRT_MXFP8DynamicQuantize", {.work = per_output_element<kDynamicQuantize>}},
      {"trt", "TRT_FP4DynamicQuantize", {.work = per_output_element<kDynamicQuantize>}},
      {"onnx.brevitas", "Quant", {.work = per_output_element<6>}},
      {"onnx.brevitas", "Trunc", {.work = per_output_element<6>}},
      {"onnx.brevitas", "BipolarQuant", {.work = per_output_element<3>}},
      {"finn.custom_op.general", "Quant", {.work = per_output_element<6>}},
      {"finn.custom_op.general", "BipolarQuant", {.work = per_output_element<3>}},
      {"finn.custom_op.general", "MultiThreshold", {.work = per_output_element<1>}},
      {"qonnx.custom_op.general", "Quant", {.work = per_output_element<6>}},
      {"qonnx.custom_op.general", "IntQuant", {.work = per_output_element<6>}},
      {"qonnx.custom_op.general", "FloatQuant", {.work = per_output_element<6>}},
      {"qonnx.custom_op.general", "Trunc", {.work = per_output_element<6>}},
      {"qonnx.custom_op.general", "BipolarQuant", {.work = per_output_element<3>}},
      {"qonnx.custom_op.general", "MultiThreshold", {.work = per_output_element<1>}},
  };
  return kEntries;
}

}  // namespace kcharter
