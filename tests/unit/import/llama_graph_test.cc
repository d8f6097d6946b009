#include <gtest/gtest.h>

#include "import/architecture/build_model.h"
#include "kcharter/ops/operator.h"
#include "kcharter/shape/infer_shapes.h"

namespace kcharter {
namespace {

constexpr const char* kLlama3 = R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
  "num_hidden_layers": 32, "rms_norm_eps": 1e-05, "tie_word_embeddings": false})";

Model model_of(const char* config, Mode mode) {
  BuildOptions options;
  options.mode = mode;
  options.dtype = DType::kBF16;
  return infer_shapes(build_model(ModelConfig::parse(config), options));
}

Int flops_below(const Model& model, std::string_view prefix, const Bindings& at) {
  Int sum = 0;
  for (const Node& node : model.graph.nodes) {
    const OperatorInfo* info = find_operator(node.domain, node.op_type);
    EXPECT_NE(info, nullptr) << node.op_type;
    if (info == nullptr || info->work == nullptr || !node.name.starts_with(prefix)) continue;
    Work work = info->work(model.graph, node);
    EXPECT_TRUE(work.flops) << node.name;
    if (work.flops) sum += work.flops->evaluate(at);
  }
  return sum;
}

TEST(LlamaGraph, EveryValueHasAShape) {
  for (Mode mode : {Mode::kPrefill, Mode::kDecode}) {
    Model model = model_of(kLlama3, mode);
    for (const Value& value : model.graph.values) EXPECT_TRUE(fully_known(value.type)) << value.name;
  }
}

// 2·32·218,103,808 weights + 4·32·32·128·512 attention.
TEST(LlamaGraph, DecodeCountsWeightsAndAttention) {
  Model model = model_of(kLlama3, Mode::kDecode);
  Bindings at = {{"batch_size", 1}, {"current_length", 512}, {"max_length", 512}};
  EXPECT_EQ(flops_below(model, "model.layers.", at), Int{14227079168});
}

// A causal prefill of S tokens meets S(S+1)/2 pairs, and the head only the last token.
TEST(LlamaGraph, PrefillCountsCausalPairsAndOneRowOfLogits) {
  Model model = model_of(kLlama3, Mode::kPrefill);
  Bindings at = {{"batch_size", 1}, {"current_length", 512}, {"max_length", 512}};
  Int pairs = 512 * 513 / 2;
  EXPECT_EQ(flops_below(model, "model.layers.", at),
            Int{2} * 32 * 218103808 * 512 + Int{4} * 32 * 32 * 128 * pairs);
  EXPECT_EQ(flops_below(model, "lm_head", at), Int{2} * 4096 * 128256);
}

TEST(LlamaGraph, CacheOf32768TokensIsFourGibibytes) {
  Model model = model_of(kLlama3, Mode::kDecode);
  Int bytes = 0;
  for (const Cache& cache : model.graph.caches) {
    Expr elements(1);
    for (const Expr& dim : *cache.allocated) elements *= dim;
    bytes += byte_size(elements, cache.format).evaluate({{"batch_size", 1}, {"max_length", 32768}});
  }
  EXPECT_EQ(bytes, Int{4} << 30);
}

TEST(LlamaGraph, AnUnknownFamilyIsNotTakenForAnother) {
  Model model = model_of(R"({"architectures": ["FooForCausalLM"], "model_type": "llama", "hidden_size": 64})",
                         Mode::kPrefill);
  EXPECT_FALSE(model.graph_known);
  EXPECT_TRUE(model.diagnostics.has("unknown-architecture"));
}

}  // namespace
}  // namespace kcharter
