#include "kcharter/ops/mark_weights.h"

#include <gtest/gtest.h>

#include "reference/toy_graph.h"

namespace kcharter {
namespace {

using reference::ToyGraph;

TEST(MarkWeights, ScaleOfAScaleIsAScale) {
  ToyGraph toy;
  ValueId packed = toy.weight({64, 32}, DType::kF4E2M1);
  ValueId block_scale = toy.weight({64, 2}, DType::kF8E4M3FN);
  ValueId tensor_scale = toy.weight({}, DType::kF32);
  ValueId scales = toy.apply("DequantizeLinear", {block_scale, tensor_scale}, {64, 2});
  ValueId real = toy.apply("DequantizeLinear", {packed, scales}, {64, 32});
  toy.apply("MatMul", {toy.input({1, 64}), real}, {1, 32});
  Model model = mark_weights(toy.model);
  EXPECT_EQ(model.graph.initializers[0].part, TensorPart::kPayload);
  EXPECT_EQ(model.graph.initializers[1].part, TensorPart::kScale);
  EXPECT_EQ(model.graph.initializers[2].part, TensorPart::kScale);
}

TEST(MarkWeights, DynamicQuantizationMultipliesItsScaleByTheWeights) {
  ToyGraph toy;
  ValueId x = toy.input({1, 64});
  ValueId quantized = toy.value({1, 64}, DType::kUInt8), scale = toy.value({}),
          zero = toy.value({});
  toy.node("DynamicQuantizeLinear", {x}, {quantized, scale, zero});
  ValueId weight = toy.weight({64, 8}, DType::kInt8), weight_scale = toy.weight({});
  ValueId sums = toy.apply("MatMulInteger", {quantized, weight, zero}, {1, 8}, DType::kInt32);
  toy.apply("Mul", {toy.apply("Cast", {sums}, {1, 8}), toy.apply("Mul", {scale, weight_scale}, {})},
            {1, 8});
  Model model = mark_weights(toy.model);
  EXPECT_EQ(model.graph.initializers[0].part, TensorPart::kPayload);
  EXPECT_EQ(model.graph.initializers[1].part, TensorPart::kScale);
}

TEST(MarkWeights, TableQuantizedRowByRowIsAParameter) {
  ToyGraph toy;
  ValueId table = toy.weight({1000, 16}, DType::kUInt8);
  toy.model.graph.initializers[0].role = TensorRole::kBuffer;
  ValueId rows =
      toy.apply("Gather", {table, toy.input({4}, DType::kInt64)}, {4, 16}, DType::kUInt8);
  toy.apply("DequantizeLinear", {rows, toy.weight({})}, {4, 16});
  Model model = mark_weights(toy.model);
  EXPECT_EQ(model.graph.initializers[0].part, TensorPart::kPayload);
  EXPECT_EQ(model.graph.initializers[0].role, TensorRole::kParameter);
}

}  // namespace
}  // namespace kcharter
