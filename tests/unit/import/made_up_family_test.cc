// A family of one's own needs one file and no other change.
#include <gtest/gtest.h>

#include "import/architecture/build_model.h"
#include "import/architecture/decoder.h"
#include "import/architecture/family.h"

namespace kcharter {
namespace {

// Llama with a learned factor of each layer's feed-forward block.
void build_walrus(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  FeedForward plain = feed_forward_of(config);
  int64_t size = decoder.hidden_size;
  for (Layer& layer : decoder.layers) {
    layer.feed_forward = [plain, size](GraphBuilder& b, ValueId x, int64_t index) {
      return b.op("Mul", {plain(b, x, index), b.parameter("tusk", {size})});
    };
  }
  build(builder, decoder);
}

TEST(MadeUpFamily, IsBuiltOnceItIsRegistered) {
  ModelConfig config = ModelConfig::parse(R"({"architectures": ["WalrusForCausalLM"], "hidden_size": 8,
    "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 10})");
  EXPECT_FALSE(build_model(config, {}).graph_known);
  register_family({"WalrusForCausalLM", "walrus", build_walrus});
  Model model = build_model(config, {});
  ASSERT_TRUE(model.graph_known);
  int tusks = 0;
  for (const Initializer& initializer : model.graph.initializers) tusks += initializer.name.ends_with(".tusk");
  EXPECT_EQ(tusks, 3);
}

}  // namespace
}  // namespace kcharter
