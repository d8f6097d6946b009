// MiniMax-H3 under both sets of names: the same numbers, counted by hand.
#include <gtest/gtest.h>

#include <string>

#include "import/architecture/build_model.h"

namespace kcharter {
namespace {

constexpr const char* kDiffusers = R"({"_class_name": "MiniMaxH3Transformer3DModel", "num_attention_heads": 2,
  "attention_head_dim": 8, "hidden_size": 12, "num_layers": 3, "num_refiner_layers": 1, "ffn_dim": 20,
  "in_channels": 4, "audio_in_channels": 5, "patch_size": [1, 2, 2], "text_dim": 7, "freq_dim": 6,
  "time_embed_hidden_dim": 9, "time_embed_dim": 10})";
constexpr const char* kAuthors = R"({"_class_name": "MiniMaxH3DiTModel", "num_attention_heads": 2,
  "attention_head_dim": 8, "hidden_size": 12, "num_layers": 3, "token_refiner_num_layers": 1,
  "ffn_hidden_size": 20, "latents_dim": 4, "audio_latents_dim": 5, "patch_size": [1, 2, 2], "text_dim": 7,
  "timestep_input_dim": 6, "time_embed_hidden_size": 9, "time_embed_dim": 10, "rope_inv_freq_len": 3})";

int64_t elements(const Initializer& initializer) {
  int64_t count = 1;
  for (int64_t dim : initializer.dims) count *= dim;
  return count;
}

struct Sums {
  int64_t parameters = 0, in_f32 = 0;
};

Sums sums_of(const Model& model) {
  Sums sums;
  for (const Initializer& initializer : model.graph.initializers) {
    if (initializer.role != TensorRole::kParameter) continue;
    sums.parameters += elements(initializer);
    if (initializer.dtype == DType::kF32) sums.in_f32 += elements(initializer);
  }
  return sums;
}

TEST(MiniMaxH3, CountsAsByHandUnderBothNames) {
  constexpr int64_t h = 12, width = 16, inner = 20, video = 16, sound = 5;
  constexpr int64_t block = 2 * h + 4 * h * width + 2 * 8 + 3 * h * inner;
  constexpr int64_t vectors = (10 + 1) * 18 * h, last = (10 + 1) * 2 * h + h;
  constexpr int64_t precise = (video + 1) * h + (sound + 1) * h + (h + 1) * (video + sound) + (6 + 1) * 9 + (9 + 1) * 10;
  constexpr int64_t text = (7 + 1) * h + h;
  for (const char* config : {kDiffusers, kAuthors}) {
    BuildOptions options;
    options.dtype = DType::kBF16;
    Model model = build_model(ModelConfig::parse(config), options);
    ASSERT_TRUE(model.graph_known);
    Sums sums = sums_of(model);
    EXPECT_EQ(sums.in_f32, precise);
    EXPECT_EQ(sums.parameters, 4 * block + 3 * vectors + last + precise + text);
  }
}

TEST(MiniMaxH3, RefusesSizesOutOfRange) {
  std::string text = kDiffusers;
  text.replace(text.find("[1, 2, 2]"), 9, "[0, 2, 2]");
  Model model = build_model(ModelConfig::parse(text), {});
  EXPECT_FALSE(model.graph_known);
}

}  // namespace
}  // namespace kcharter
