// Mochi's two streams and Fish Audio's two decoders: parameters counted by hand.
#include <gtest/gtest.h>

#include "import/architecture/build_model.h"

namespace kcharter {
namespace {

int64_t parameters_of(const Model& model) {
  int64_t sum = 0;
  for (const Initializer& initializer : model.graph.initializers) {
    if (initializer.alias_of || initializer.role != TensorRole::kParameter) continue;
    int64_t count = 1;
    for (int64_t dim : initializer.dims) count *= dim;
    sum += count;
  }
  return sum;
}

TEST(Mochi, TheLastBlockMakesNoTextAnew) {
  Model model = build_model(ModelConfig::parse(R"({"_class_name": "MochiTransformer3DModel", "num_attention_heads": 2,
    "attention_head_dim": 6, "num_layers": 3, "pooled_projection_dim": 9, "in_channels": 4, "patch_size": 2,
    "text_embed_dim": 16, "time_embed_dim": 10})"), {});
  ASSERT_TRUE(model.graph_known);
  constexpr int64_t h = 12, p = 9, t = 16, inner = 32, text_inner = 24, patch = 16;
  constexpr int64_t block = (h + 1) * 4 * h + 3 * h * h + 3 * p * h + 4 * 6 + (h + 1) * h + 3 * h * inner;
  constexpr int64_t text = (h + 1) * 4 * p + (h + 1) * p + 3 * p * text_inner, last = (h + 1) * p;
  constexpr int64_t embedded = (patch + 1) * h + 3 * 2 * 3 + (10 + 1) * h + (h + 1) * h + (t + 1) * p +
                               (t + 1) * 3 * t + (t + 1) * h;
  constexpr int64_t out = (h + 1) * 2 * h + (h + 1) * patch;
  EXPECT_EQ(parameters_of(model), 3 * block + 2 * text + last + embedded + out);
}

TEST(FishAudio, BothDecodersAreStoredOneRuns) {
  const char* config = R"({"model_type": "fish_qwen3_omni",
    "text_config": {"dim": 8, "n_head": 2, "n_layer": 3, "n_local_heads": 1, "head_dim": 6, "intermediate_size": 20,
      "vocab_size": 50, "attention_qk_norm": true, "tie_word_embeddings": true},
    "audio_decoder_config": {"dim": 8, "n_head": 2, "n_layer": 2, "n_local_heads": 1, "head_dim": 6,
      "intermediate_size": 20, "vocab_size": 30, "num_codebooks": 4, "tie_word_embeddings": false}})";
  Model model = build_model(ModelConfig::parse(config), {});
  ASSERT_TRUE(model.graph_known);
  constexpr int64_t layer = 2 * 8 + 8 * 4 * 6 + 12 * 8 + 3 * 8 * 20;
  constexpr int64_t text = 50 * 8 + 8 + 3 * (layer + 2 * 6), sound = (4 + 2) * 30 * 8 + 8 + 2 * layer;
  EXPECT_EQ(parameters_of(model), text + sound);
  EXPECT_EQ(model.graph.caches.size(), 6u);  // keys and values of the three layers that run
}

}  // namespace
}  // namespace kcharter
