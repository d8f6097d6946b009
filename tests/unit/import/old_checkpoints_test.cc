// What older checkpoints store, and which of them are not what their class says.
#include <gtest/gtest.h>

#include <string>

#include "import/architecture/build_model.h"

namespace kcharter {
namespace {

int frequencies_of(const std::string& architecture, const std::string& version) {
  Model model = build_model(ModelConfig::parse(R"({"architectures": [")" + architecture + R"("], "hidden_size": 8,
    "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 10,
    "transformers_version": ")" + version + R"("})"), {});
  EXPECT_TRUE(model.graph_known);
  int count = 0;
  for (const Initializer& initializer : model.graph.initializers) {
    if (!initializer.name.ends_with("self_attn.rotary_emb.inv_freq")) continue;
    EXPECT_EQ(initializer.dims, std::vector<int64_t>{2});
    EXPECT_EQ(initializer.role, TensorRole::kBuffer);
    ++count;
  }
  return count;
}

TEST(RotationBuffers, AreThoseOfLlamaBeforeTransformers432) {
  for (const char* architecture : {"LlamaForCausalLM", "LlavaLlamaForCausalLM"}) {
    EXPECT_EQ(frequencies_of(architecture, "4.31.0.dev0"), 3);
    EXPECT_EQ(frequencies_of(architecture, "4.32.0"), 0);
    EXPECT_EQ(frequencies_of(architecture, "5.0.0"), 0);
    EXPECT_EQ(frequencies_of(architecture, "unknown"), 0);
  }
}

// Qwen-VL of the first generation has Qwen's class and a tower besides.
TEST(Qwen1, IsNotTakenForItsSisterThatLooks) {
  const char* text = R"({"architectures": ["QWenLMHeadModel"], "hidden_size": 8, "intermediate_size": 16,
    "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 10%s})";
  std::string plain = text, looks = text;
  plain.replace(plain.find("%s"), 2, "");
  looks.replace(looks.find("%s"), 2, R"(, "visual": {"layers": 48})");
  EXPECT_TRUE(build_model(ModelConfig::parse(plain), {}).graph_known);
  EXPECT_FALSE(build_model(ModelConfig::parse(looks), {}).graph_known);
}

}  // namespace
}  // namespace kcharter
