#include "structure/weight_module.h"

#include <gmock/gmock.h>

namespace kcharter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WeightModule, LeavesOutWhatNamesTheTensor) {
  EXPECT_THAT(weight_module("model.layers.0.q_proj.weight", "MatMul"),
              ElementsAre("model", "layers", "0", "q_proj"));
  EXPECT_THAT(weight_module("model.layers.0.q_proj.weight.absmax", "MatMulBnb4"),
              ElementsAre("model", "layers", "0", "q_proj"));
  EXPECT_THAT(weight_module("model.layers.0.attn.qkv_proj.MatMul.weight_Q4", "MatMulNBits"),
              ElementsAre("model", "layers", "0", "attn", "qkv_proj"));
  EXPECT_THAT(weight_module("model/conv2d_9/Conv2D_weights_fused_bn:0", "Conv"),
              ElementsAre("model", "conv2d_9"));
}

TEST(WeightModule, SaysNothingWhereTheNameDoesNot) {
  EXPECT_THAT(weight_module("onnx::MatMul_731", "MatMul"), IsEmpty());
  EXPECT_THAT(weight_module("446", "Conv"), IsEmpty());
  EXPECT_THAT(weight_module("", ""), IsEmpty());
}

TEST(ValueModule, IsThePathBeforeTheLastPart) {
  EXPECT_THAT(value_module("/encoder/layer.0/self/Reshape_3_output_0").segments,
              ElementsAre("encoder", "layer.0", "self"));
  EXPECT_THAT(value_module("v_model.layers.0.mlp.CastLike_55").segments,
              ElementsAre("model", "layers", "0", "mlp"));
  EXPECT_FALSE(value_module("model.layers.0.add").is_certain);
}

}  // namespace
}  // namespace kcharter
