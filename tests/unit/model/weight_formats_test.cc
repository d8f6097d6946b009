#include "kcharter/model/weight_formats.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

TEST(WeightFormats, OneForAll) {
  const auto formats = parse_weight_formats("q4_0");
  ASSERT_TRUE(formats);
  EXPECT_EQ(formats->of("model.layers.0.mlp.up_proj.weight")->name, "q4_0");
}

TEST(WeightFormats, PartsAreWholeNamesInThePath) {
  const auto formats = parse_weight_formats("fp8,lm_head=bf16,v_proj=q8_0");
  ASSERT_TRUE(formats);
  EXPECT_EQ(formats->of("lm_head.weight")->name, "bf16");
  EXPECT_EQ(formats->of("model.layers.3.self_attn.v_proj.weight")->name, "q8_0");
  EXPECT_EQ(formats->of("model.layers.3.self_attn.qkv_proj.weight")->name, "fp8");
}

TEST(WeightFormats, PartsAloneLeaveTheRest) {
  const auto formats = parse_weight_formats("lm_head=fp8");
  ASSERT_TRUE(formats);
  EXPECT_EQ(formats->of("model.norm.weight"), nullptr);
}

// Half of the layers have 6.5625 bits in these two matrices, the others 4.5.
TEST(WeightFormats, MixtureOfGgml) {
  const auto formats = parse_weight_formats("q4_k_m");
  ASSERT_TRUE(formats);
  EXPECT_EQ(formats->of("blk.ffn.up_proj.weight")->block_bytes, 144);
  EXPECT_EQ(formats->of("blk.ffn.down_proj.weight")->block_bytes, 177);
  EXPECT_EQ(formats->of("lm_head.weight")->block_bytes, 210);
}

TEST(WeightFormats, RefusesWhatItIsNot) {
  for (const char* text : {"", "q4_9", "fp8,bf16", "lm_head=", "=fp8", "lm_head=q4_k_m", ","}) {
    EXPECT_FALSE(parse_weight_formats(text)) << text;
  }
}

}  // namespace
}  // namespace kcharter
