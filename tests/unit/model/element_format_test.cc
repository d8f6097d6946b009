#include "kcharter/model/element_format.h"

#include <gtest/gtest.h>

#include "kcharter/model/tensor_type.h"

namespace kcharter {
namespace {

TEST(DType, KnowsTheNamesOfOthers) {
  EXPECT_EQ(parse_dtype("torch.bfloat16"), DType::kBF16);
  EXPECT_EQ(parse_dtype("F8_E4M3"), DType::kF8E4M3FN);
  EXPECT_EQ(parse_dtype("I64"), DType::kInt64);
  EXPECT_EQ(parse_dtype("float8_e8m0fnu"), DType::kF8E8M0);
  EXPECT_EQ(parse_dtype("bf17"), std::nullopt);
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const DType dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
  }
}

TEST(ElementFormat, CountsWholeBlocks) {
  EXPECT_EQ(byte_size(Expr(64), *parse_element_format("q8_0")), Expr(68));
  EXPECT_EQ(byte_size(Expr(33), *parse_element_format("q4_0")), Expr(36));
  EXPECT_EQ(byte_size(Expr(64), *parse_element_format("nvfp4")), Expr(36));
  EXPECT_EQ(byte_size(Expr(3), *parse_element_format("int4")), Expr(2));
  EXPECT_EQ(byte_size(Expr(3), *parse_element_format("bf16")), Expr(6));
  EXPECT_EQ(parse_element_format("string"), std::nullopt);
}

TEST(TensorType, SizesAreFormulas) {
  TensorType type{DType::kBF16, Shape{Expr::variable("batch_size"), Expr(1), Expr(2048)}};
  EXPECT_EQ(to_string(type), "[batch_size, 1, 2048] bf16");
  EXPECT_EQ(byte_size(type)->to_string(), "4096*batch_size");
  type.shape->at(1).reset();
  EXPECT_EQ(byte_size(type), std::nullopt);
  EXPECT_EQ(to_string(TensorType{DType::kF32, std::nullopt}), "? f32");
}

}  // namespace
}  // namespace kcharter
