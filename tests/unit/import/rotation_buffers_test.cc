// Which Llama checkpoints store the frequencies of rotation.
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

}  // namespace
}  // namespace kcharter
