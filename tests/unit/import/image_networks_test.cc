// Networks on images: multiply-adds counted by hand.
#include <gtest/gtest.h>

#include "import/architecture/build_model.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/ops/mark_weights.h"
#include "kcharter/shape/infer_shapes.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {
namespace {

// FLOPs of the whole model with its variables' defaults, changed by `values`.
Int flops_of(const char* config, Bindings values = {}) {
  Model model = build_model(ModelConfig::parse(config), {});
  EXPECT_TRUE(model.graph_known) << model.diagnostics.all().front().message;
  model = mark_weights(infer_shapes(std::move(model)));
  values.try_emplace(std::string(kBatchSize), 1);
  values.try_emplace(std::string(kCurrentLength), 1);
  values.try_emplace(std::string(kMaxLength), 1);
  for (const Variable& variable : model.variables) values.try_emplace(variable.name, variable.value);
  ModuleTree tree = build_module_tree(model);
  Estimate result = estimate(model, tree, values, {});
  return result.summary[Metric::kFlops].formula->evaluate(values);
}

constexpr const char* kConvNext = R"({"architectures": ["ConvNextModel"], "depths": [1], "hidden_sizes": [8],
  "patch_size": 4, "image_size": 16})";

// 4 × 4 points: a patch 4·4·3 wide, one depthwise 7 × 7, two layers 8 ↔ 32.
TEST(ImageNetworks, ConvNextCountsEveryPoint) {
  const Int per_point = 2 * (48 * 8 + 49 * 8 + 2 * 8 * 32);
  EXPECT_EQ(flops_of(kConvNext), 16 * per_point);
  EXPECT_EQ(flops_of(kConvNext, {{"height", 32}, {"width", 64}}), 8 * 16 * per_point);
}

// 8 × 8 tokens in windows of 4 × 4: each token sees 16.
TEST(ImageNetworks, SwinSeesItsWindowAlone) {
  const char* config = R"({"architectures": ["SwinModel"], "depths": [1], "num_heads": [2], "embed_dim": 8,
    "window_size": 4, "image_size": 32, "patch_size": 4})";
  const Int per_token = 2 * (48 * 8 + 4 * 8 * 8 + 2 * 8 * 32 + 2 * 16 * 8);
  EXPECT_EQ(flops_of(config), 64 * per_token);
}

// Two residual blocks of each resolution run at the sizes that halving gives; odd sizes round up.
TEST(ImageNetworks, UNetTakesAnyHeightAndWidth) {
  const char* config = R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [32, 64], "layers_per_block": 1,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"], "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"],
    "attention_head_dim": 8, "cross_attention_dim": 16, "sample_size": 8})";
  EXPECT_GT(flops_of(config, {{"height", 72}, {"width", 72}}), flops_of(config));
}

}  // namespace
}  // namespace kcharter
