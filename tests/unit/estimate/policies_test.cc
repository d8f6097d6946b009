#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kcharter/analyze/analyze.h"
#include "kcharter/estimate/caches.h"

namespace kcharter {
namespace {

AnalyzeOptions options(Mode mode, int64_t length) {
  AnalyzeOptions all;
  all.import.mode = mode;
  all.workload.current_length = length;
  return all;
}

Document charted(const std::string& name, const AnalyzeOptions& all) {
  return analyze("models/configs/" + name, all).front();
}

Int peak(const Document& document) {
  const auto& formula = document.estimate.summary[Metric::kActivationPeakBytes].formula;
  return formula->evaluate(document.values);
}

Int scratch(const Document& document) {
  return document.estimate.scratch_at_peak.formula->evaluate(document.values);
}

// SmolLM-135M: 9 heads, 576 wide, 49,152 tokens known; bf16.
TEST(Policies, WrittenScoresAreAliveWithTheirSoftmax) {
  AnalyzeOptions all = options(Mode::kPrefill, 2048);
  const Document fused = charted("smollm-135m", all);
  EXPECT_EQ(scratch(fused), 0);
  all.estimate.scores_written = true;
  const Document written = charted("smollm-135m", all);
  EXPECT_EQ(scratch(written), Int{2} * 9 * 2048 * 2048 * 2);
  EXPECT_GT(peak(written), scratch(written));
  EXPECT_LE(peak(written), scratch(written) + peak(fused));
  EXPECT_GE(*written.estimate.packed_peak_bytes, peak(written));
}

TEST(Policies, ChunksTakeAllKeysButTheirOwnQueries) {
  AnalyzeOptions all = options(Mode::kPrefill, 2048);
  const Int whole = peak(charted("smollm-135m", all));
  all.workload.prefill_chunk = 256;
  const Document chunked = charted("smollm-135m", all);
  EXPECT_EQ(peak(chunked), whole / 8);
  EXPECT_EQ(chunked.values.at(std::string(kPrefillChunkLength)), 256);
  all.estimate.scores_written = true;
  EXPECT_EQ(scratch(charted("smollm-135m", all)), Int{2} * 9 * 256 * 2048 * 2);
  all.workload.prefill_chunk = 4096;  // longer than the sequence
  EXPECT_EQ(scratch(charted("smollm-135m", all)), Int{2} * 9 * 2048 * 2048 * 2);
}

TEST(Policies, LogitsOfAllTokens) {
  AnalyzeOptions all = options(Mode::kPrefill, 2048);
  const Document last = charted("smollm-135m", all);
  all.all_logits = true;
  const Document every = charted("smollm-135m", all);
  EXPECT_EQ(peak(every), Int{2048} * (49152 + 576) * 2);
  const auto flops = [](const Document& document) {
    return document.estimate.summary[Metric::kFlops].formula->evaluate(document.values);
  };
  EXPECT_EQ(flops(every) - flops(last), Int{2047} * 2 * 49152 * 576);
}

TEST(Policies, DequantizedWeightsAreAliveOneMatrixAtATime) {
  AnalyzeOptions all = options(Mode::kDecode, 128);
  all.estimate.weights_dequantized = true;
  EXPECT_EQ(scratch(charted("qwen3-32b-fp8", all)), Int{25600} * 5120 * 2);
  EXPECT_EQ(scratch(charted("qwen3-32b", all)), 0);
}

// Turning the block's two variables says what another type of cache says.
TEST(Policies, BlocksOfTheCacheAreVariables) {
  std::mt19937 random(3);
  for (const char* name : {"llama-3-8b", "gemma-3-1b", "deepseek-v2-lite", "jamba-v0.1"}) {
    AnalyzeOptions all = options(Mode::kDecode, 1024);
    all.kv_block_variables = true;
    const Document plain = charted(name, all);
    all.import.kv_format = parse_element_format("q8_0");
    const Document blocked = charted(name, all);
    for (int i = 0; i < 20; ++i) {
      Bindings values = plain.values;
      values[std::string(kBatchSize)] = 1 + random() % 7;
      values[std::string(kCurrentLength)] = 1 + random() % 5000;
      values[std::string(kMaxLength)] = values[std::string(kCurrentLength)] + random() % 99;
      values[std::string(kTensorParallelSize)] = 1 << random() % 4;
      values[std::string(kKvBlockElements)] = 32;
      values[std::string(kKvBlockBytes)] = 34;
      for (const Metric metric : {Metric::kKvCacheBytes, Metric::kKvReadBytes,
                                  Metric::kKvWriteBytes, Metric::kStateBytes}) {
        const auto at = [&](const Metrics& metrics) {
          return metrics[metric].formula->evaluate(values);
        };
        EXPECT_EQ(at(plain.estimate.summary), at(blocked.estimate.summary)) << name;
        EXPECT_EQ(at(plain.estimate.parallel.device), at(blocked.estimate.parallel.device)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace kcharter
