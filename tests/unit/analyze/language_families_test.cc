// Small models of families whose parts no other family has: parameters counted by hand, nothing unknown
// in either mode.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kcharter/analyze/analyze.h"
#include "kcharter/report/document.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

std::vector<Document> chart(const std::string& config) {
  const char* name = testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::path folder = fs::temp_directory_path() / ("kcharter_family_" + std::string(name));
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << config;
  std::vector<Document> documents = analyze(folder / "config.json", {});
  fs::remove_all(folder);
  return documents;
}

// Of both modes.
void expect_known(const std::vector<Document>& documents, int64_t parameters) {
  ASSERT_EQ(documents.size(), 2U);
  for (const Document& document : documents) {
    EXPECT_EQ(document.estimate.parameters, parameters);
    std::string text = to_json(document);
    EXPECT_EQ(text.find("\"unknown\""), std::string::npos) << text.substr(0, 2000);
  }
}

constexpr const char* kCommon = R"("torch_dtype": "bfloat16", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2,
  "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 16)";

std::string config(const std::string& architecture, const std::string& more) {
  return R"({"architectures": [")" + architecture + R"("], )" + kCommon + ", " + more + "}";
}

TEST(LanguageFamilies, SearchedLlamaLeavesBlocksOut) {
  // Layer 0: attention of one group, no feed-forward. Layer 1: a linear layer, feed-forward of size 256.
  int64_t first = 8 + 8 * 8 * 2 + 8 * 4 * 2, second = 8 + 64 + 8 + 3 * 8 * 256;
  expect_known(chart(config("DeciLMForCausalLM", R"("head_dim": 4, "block_configs": [
      {"attention": {"n_heads_in_group": 2}, "ffn": {"no_op": true}},
      {"attention": {"replace_with_linear": true}, "ffn": {"ffn_mult": 1}}])")),
               2 * 10 * 8 + 8 + first + second);
}

TEST(LanguageFamilies, KimiLinearKeepsAStateInsteadOfKeys) {
  int64_t width = 2 * 4;
  int64_t delta = 3 * (8 * width + width * 4) + (8 * 4 + 4 * width) * 2 + 8 * 2 + 2 + width + 4 + width * 8;
  int64_t latent = 8 * 2 * 6 + (8 * 5) + 3 + 3 * 2 * 8 + 8 * 8;
  int64_t others = 2 * (2 * 8 + 3 * 8 * 16);
  std::vector<Document> documents = chart(config("KimiLinearForCausalLM", R"("kv_lora_rank": 3, "qk_nope_head_dim": 4,
      "qk_rope_head_dim": 2, "v_head_dim": 4, "mla_use_nope": true, "linear_attn_config": {"kda_layers": [1],
      "num_heads": 2, "head_dim": 4, "short_conv_kernel_size": 4})"));
  expect_known(documents, 2 * 10 * 8 + 8 + delta + latent + others);
}

TEST(LanguageFamilies, RwkvHasNoCacheThatGrows) {
  // Version 4: four matrices and five vectors of time mixing, three matrices and two vectors of channels.
  int64_t block = 4 * 64 + 5 * 8 + 2 * 8 * 32 + 64 + 2 * 8 + 4 * 8;
  std::vector<Document> documents = chart(R"({"architectures": ["RwkvForCausalLM"], "model_type": "rwkv", "torch_dtype": "bfloat16",
      "vocab_size": 10, "hidden_size": 8, "attention_hidden_size": 8, "num_hidden_layers": 2})");
  expect_known(documents, 2 * 10 * 8 + 2 * 16 + 2 * block);
}

TEST(LanguageFamilies, Gemma3nSharesKeysAndRunsFourStreams) {
  int64_t attention = 2 * 8 * 8 + 2 * 8 * 8 + 2 * 4, laurel = 2 * 8 * 2 + 8;
  int64_t altup = 8 + 8 + 4 * 4 + 16 * 4 + 4 * 8;
  int64_t layer = attention + laurel + altup + 4 * 8 + 3 * 8 * 16 + 2 * 8 * 2 + 8;
  int64_t model = 10 * 8 + 10 * 2 * 2 + 8 * 4 + 2 + 6 * 64 + 8;
  expect_known(chart(config("Gemma3nForCausalLM", R"("head_dim": 4, "laurel_rank": 2, "hidden_size_per_layer_input": 2,
      "vocab_size_per_layer_input": 10, "num_kv_shared_layers": 1, "layer_types": ["full_attention", "full_attention"])")),
               model + 2 * layer);
}

TEST(LanguageFamilies, DeepSeek4CompressesKeys) {
  std::vector<Document> documents = chart(config("DeepseekV4ForCausalLM", R"("head_dim": 4, "qk_rope_head_dim": 2,
      "q_lora_rank": 4, "o_lora_rank": 2, "o_groups": 2, "index_n_heads": 2, "index_head_dim": 4, "index_topk": 2,
      "sliding_window": 8, "compress_ratios": [4, 128], "hc_mult": 2, "n_routed_experts": 4, "num_experts_per_tok": 2,
      "moe_intermediate_size": 4)"));
  int64_t attention = 8 * 4 + 4 + 4 * 8 + 8 * 4 + 4 + 4 * 4 + 8 * 4 + 2;
  int64_t indexer = 4 * 8 + 2 * 8 + 2 * 8 * 8 + 4 * 8 + 4;
  int64_t fours = 2 * 8 * 8 + 4 * 8 + 4, hundreds = 2 * 4 * 8 + 128 * 4 + 4;
  int64_t streams = 8 * 16 + 8 + 3;
  int64_t layer = attention + 2 * streams + 2 * 8 + 4 * 8 + 4 * 3 * 8 * 4;
  expect_known(documents, 2 * 10 * 8 + 8 + 2 * 16 + 2 + 1 + 2 * layer + indexer + fours + hundreds);
}

TEST(LanguageFamilies, MiniMaxM3ChoosesBlocksOfKeys) {
  int64_t attention = 4 * 8 * 8 + 2 * 4, index = 8 * 8 + 8 * 4 + 2 * 4;
  int64_t dense = 3 * 8 * 16, experts = 4 * 8 + 4 * 3 * 8 * 4;
  expect_known(chart(config("MiniMaxM3ForCausalLM", R"("head_dim": 4, "num_local_experts": 4, "num_experts_per_tok": 2,
      "moe_intermediate_size": 4, "moe_layer_freq": [0, 1], "sparse_attention_config": {"use_sparse_attention": true,
      "sparse_num_index_heads": 2, "sparse_index_dim": 4, "sparse_topk_blocks": 2, "sparse_block_size": 16,
      "sparse_attention_freq": [0, 1]})")),
               2 * 10 * 8 + 8 + 4 * 8 + 2 * attention + index + dense + experts);
}

TEST(LanguageFamilies, StepHasExpertsBesideASharedOne) {
  int64_t attention = 4 * 8 * 8 + 2 * 4 + 2 * 8, other = 2 * 8 * 16 + 2 * 8 * 8 + 2 * 4 + 4 * 8;
  int64_t experts = 4 * 8 + 4 + 4 * 3 * 8 * 4 + 3 * 8 * 4;
  expect_known(chart(config("Step3p5ForCausalLM", R"("head_dim": 4, "num_experts": 4, "num_experts_per_tok": 2,
      "moe_intermediate_size": 4, "share_expert_dim": 4, "moe_layers_enum": "1", "use_moe_router_bias": true,
      "use_head_wise_attn_gate": true, "layer_types": ["full_attention", "sliding_attention"], "sliding_window": 8,
      "attention_other_setting": {"num_attention_heads": 4}, "num_nextn_predict_layers": 0)")),
               2 * 10 * 8 + 8 + 4 * 8 + attention + other + 3 * 8 * 16 + experts);
}

}  // namespace
}  // namespace kcharter
