#include "kcharter/estimate/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kcharter/analyze/analyze.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Setting {
  std::string engine;
  std::map<std::string, std::string> options;
  int64_t batch = 1, length = 1024;
  std::string kv_dtype = {};
};

Int bytes(const std::string& config, const Setting& setting, Metric metric = Metric::kKvCacheBytes) {
  AnalyzeOptions options;
  options.import.mode = Mode::kDecode;
  options.import.kv_format = parse_element_format(setting.kv_dtype);
  if (!setting.engine.empty()) {
    options.engine = EngineRequest{setting.engine, setting.options, options.import.kv_format};
  }
  options.workload = {setting.batch, setting.length, std::nullopt};
  const Document document = analyze("models/configs/" + config, options).front();
  return document.estimate.modules.front()[metric].formula->evaluate(document.values);
}

// gpt-oss-20b: 24 layers, every second with a window of 128; 8 heads of 64, keys and values, bf16.
constexpr Int kGptOssToken = 2 * 8 * 64 * 2;

TEST(Engine, LlamaCppPadsSequencesAndWindows) {
  EXPECT_EQ(bytes("gpt-oss-20b", {"llama.cpp", {}, 1, 1000}),
            kGptOssToken * (12 * 1024 + 12 * 768));  // 128 + 512 → 768
  EXPECT_EQ(bytes("gpt-oss-20b", {"llama.cpp", {}, 3, 341}), kGptOssToken * 3 * (12 * 512 + 12 * 512));
  EXPECT_EQ(bytes("gpt-oss-20b", {"llama.cpp", {{"unified", "1"}}, 3, 1000}),
            kGptOssToken * (12 * 3072 + 12 * 1024));  // 3·128 + 512 → 1024
  EXPECT_EQ(bytes("gpt-oss-20b", {"llama.cpp", {{"swa_full", "1"}}, 1, 1000}), kGptOssToken * 24 * 1024);
}

TEST(Engine, LlamaCppTypesKeysAndValuesApart) {
  const Int elements = Int{32} * 1024 * 1024;  // llama-3-8b: 32 layers, 1,024 wide
  EXPECT_EQ(bytes("llama-3-8b", {"llama.cpp", {{"cache_type_k", "q8_0"}, {"cache_type_v", "q4_0"}}}),
            elements * 34 / 32 + elements * 18 / 32);
  EXPECT_EQ(bytes("llama-3-8b", {"llama.cpp", {}, 1, 1024, "q8_0"}), 2 * elements * 34 / 32);
}

TEST(Engine, VllmRoundsToBlocks) {
  const Int token = Int{2} * 8 * 128 * 2 * 32;
  EXPECT_EQ(bytes("llama-3-8b", {"vllm", {}, 2, 1000}), token * 2 * 1008);
  EXPECT_EQ(bytes("gpt-oss-20b", {"vllm", {{"max_num_batched_tokens", "512"}}, 1, 4096}),
            kGptOssToken * (12 * 4096 + 12 * (640 + 16)));  // 128 - 1 + 512 → 640, and one block
}

TEST(Engine, VllmPadsStatesToAPageOfAttention) {
  // qwen3-coder-next: 12 of 48 layers attend, 2 heads of 256; 36 states of 32·128·128 and 3 columns of 8192.
  const Int token = 2 * 2 * 256 * 2;
  const Int state = Int{32} * 128 * 128 * 2 + 3 * 8192 * 2;
  const Int block = 16 * ((state + 16 * token - 1) / (16 * token));
  const Setting setting{"vllm", {{"mamba_ssm_cache_dtype", "bf16"}}, 1, static_cast<int64_t>(block)};
  EXPECT_EQ(bytes("qwen3-coder-next", setting, Metric::kStateBytes), 36 * block * token);
  EXPECT_EQ(bytes("qwen3-coder-next", setting), 12 * block * token);
}

TEST(Engine, SglangSharesAPool) {
  const Int token = Int{2} * 8 * 128 * 2 * 32;
  EXPECT_EQ(bytes("llama-3-8b", {"sglang", {{"page_size", "64"}}, 2, 1000}), token * (2048 + 64));
  EXPECT_EQ(bytes("gpt-oss-20b", {"sglang", {{"swa_full_tokens_ratio", "0.5"}}, 1, 1000}),
            kGptOssToken * (12 * 1001 + 12 * 501));
}

TEST(Engine, SparseLatentsTakeARecordInFp8) {
  // glm-5: 78 layers; 656 bytes for 512 + 64 elements, 132 for the index key.
  EXPECT_EQ(bytes("glm-5", {"vllm", {{"block_size", "64"}}, 1, 6400, "fp8"}), Int{6400} * 78 * (656 + 132));
}

TEST(Engine, TransformersKeepsWhatTheSequenceHolds) {
  EXPECT_EQ(bytes("gpt-oss-20b", {"transformers", {}, 1, 1000}), kGptOssToken * (12 * 1000 + 12 * 127));
  // deepseek-v3 expanded: 128 heads of 192 and 128, bf16, 61 layers.
  EXPECT_EQ(bytes("deepseek-v3", {"transformers", {{"mla", "expanded"}}, 1, 100}),
            Int{61} * 100 * 128 * (192 + 128) * 2);
}

TEST(Engine, MlxGrowsInSteps) {
  const Int elements = Int{2} * 8 * 128 * 32;
  EXPECT_EQ(bytes("llama-3-8b", {"mlx", {}, 1, 300}), elements * 512 * 2);
  EXPECT_EQ(bytes("llama-3-8b", {"mlx", {{"kv_bits", "4"}}, 1, 512}), elements * 512 / 64 * 36);
}

TEST(Engine, TensorrtLlmRoundsToBlocks) {
  const Int token = Int{2} * 8 * 128 * 2 * 32;
  EXPECT_EQ(bytes("llama-3-8b", {"tensorrt-llm", {}, 1, 1000}), token * 1024);
}

TEST(Engine, WhatARuleAllocatesSaysSo) {
  AnalyzeOptions options;
  options.import.mode = Mode::kDecode;
  const auto source = [&] {
    return analyze("models/configs/llama-3-8b", options).front().estimate.summary[Metric::kKvCacheBytes].source;
  };
  EXPECT_EQ(source(), Source::kConfig);
  options.engine = EngineRequest{"vllm", {}, std::nullopt};
  EXPECT_EQ(source(), Source::kRule);
}

// Sizes of an exported graph's cache may be formulas: then no page is computed, and that is said.
TEST(Engine, AnUnknownSizeIsNoPageOfZero) {
  Model model;
  Cache state;
  state.kind = CacheKind::kState;
  state.name = "past.0.state";
  state.format = element_format(DType::kF32);
  state.allocated = {Expr::variable(kBatchSize), Expr::variable("width")};
  model.graph.caches.push_back(state);
  allocate_as({"vllm", {}, std::nullopt}, model);
  EXPECT_TRUE(model.diagnostics.has("engine-size-unknown"));
  EXPECT_EQ(model.graph.caches.size(), 1u);
}

TEST(Engine, WhatIsNotItsOwnIsRefused) {
  using testing::HasSubstr;
  EXPECT_THAT([] { bytes("llama-3-8b", {"ollama", {}}); },
              testing::ThrowsMessage<UsageError>(HasSubstr("'ollama' is not known; there are llama.cpp, mlx")));
  EXPECT_THAT([] { bytes("llama-3-8b", {"vllm", {{"ubatch", "1"}}}); },
              testing::ThrowsMessage<UsageError>(HasSubstr("vllm has no option 'ubatch'; it has block_size")));
  EXPECT_THAT([] { bytes("llama-3-8b", {"vllm", {{"block_size", "0"}}}); },
              testing::ThrowsMessage<UsageError>(HasSubstr("block_size: '0' is not an integer of at least 1")));
}

}  // namespace
}  // namespace kcharter
