#include "overlay/runtime_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcharter {
namespace {

using testing::Contains;
using testing::IsEmpty;

TEST(RuntimeNames, SuffixesComeOff) {
  EXPECT_THAT(names_before("/a/Relu_output_0_nchwc"), Contains("/a/Relu_output_0"));
  EXPECT_THAT(names_before("/a/Relu_output_0_nchwc"), Contains("/a/Relu"));
  EXPECT_THAT(names_before("/a/Norm_output_0_bn_nchwc"), Contains("/a/Norm"));
  EXPECT_THAT(names_before("/a/MatMul/MatmulTransposeFusion//MatMulScaleFusion/"), Contains("/a/MatMul"));
  EXPECT_THAT(names_before("/a/Slice_4/GatherSliceToSplitFusion"), Contains("/a/Slice_4"));
  EXPECT_THAT(names_before("fused /a/Gemm"), Contains("/a/Gemm"));
  EXPECT_THAT(names_before("/a/Gather_output_0_DequantizeLinear/duplicated_token_1"), Contains("/a/Gather"));
  EXPECT_THAT(names_before("x/Conv2D:0_nchwc"), Contains("x/Conv2D"));
}

TEST(RuntimeNames, InliningComesOff) {
  EXPECT_THAT(names_before("If_0_then_branch__Inline_0__/decoder/Shape_1"), Contains("/decoder/Shape_1"));
  EXPECT_THAT(names_before("_inlfunc_MLP_token_3_MatMul_14"), Contains("MatMul_14"));
  EXPECT_THAT(names_before("_inlfunc_Layer_Norm_Mul_25/LayerNormFusion/"), Contains("Mul_25"));
}

TEST(RuntimeNames, NothingComesOffAPlainName) {
  EXPECT_THAT(names_before("/model/layers.0/mlp/MatMul"), IsEmpty());
  EXPECT_THAT(names_before(""), IsEmpty());
  EXPECT_THAT(names_before("/"), IsEmpty());
}

TEST(RuntimeNames, AHostileNameEnds) {
  std::string name = "a";
  for (int i = 0; i < 1000; ++i) name += "_nchwc";
  EXPECT_LE(names_before(name).size(), 64u);
  EXPECT_THAT(names_before(std::string(100000, '/')), IsEmpty());
}

TEST(RuntimeNames, MadeUpNames) {
  for (const char* name : {"Cast_0", "BiasGelu", "BiasGelu_token_7", "ReorderOutput", "GPT2Gelu"}) {
    EXPECT_TRUE(is_made_up(name)) << name;
  }
  for (const char* name : {"/model/Cast", "model.norm", "", "a b"}) EXPECT_FALSE(is_made_up(name)) << name;
}

}  // namespace
}  // namespace kcharter
