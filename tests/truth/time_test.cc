// Times and fits of real configurations: a worked example, and what the inverse answers promise.
#include "kcharter/estimate/time.h"

#include <gtest/gtest.h>

#include <random>

#include "kcharter/analyze/analyze.h"
#include "kcharter/estimate/fit.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

// Those of this tree.
std::filesystem::path configs() {
  const std::filesystem::path tests = std::filesystem::path(__FILE__).parent_path().parent_path();
  return tests.parent_path() / "models/configs";
}

Document charted(const std::string& config, Mode mode, int64_t length) {
  count_case("time: configurations");
  AnalyzeOptions options;
  options.import.mode = mode;
  options.workload.current_length = length;
  return std::move(analyze(configs() / config, options).at(0));
}

void expect_bound(Mode mode, double seconds) {
  const Document document = charted("llama-3-8b", mode, 8192);
  const ModelTime time = time_on(document.model, document.tree, document.estimate, document.values,
                                 *find_device("h100-sxm"));
  EXPECT_TRUE(time.complete);
  EXPECT_NEAR(time.bound, seconds, 0.02 * seconds);
  EXPECT_GE(time.estimate.total, time.bound);
}

// 132 TFLOP at 989 TFLOP/s.
TEST(TimeTruth, BoundOfPrefillIsItsCompute) { expect_bound(Mode::kPrefill, 133e-3); }

// 15.0 GB of weights and 1.07 GB of cache at 3.35 TB/s.
TEST(TimeTruth, BoundOfDecodeIsItsTraffic) { expect_bound(Mode::kDecode, 4.80e-3); }

bool fits(const Document& document, Bindings values, const Device& device, int64_t overhead) {
  const auto answer = fit(document.estimate, values, device, overhead);
  return answer && answer->fits();
}

// The answer fits and the next does not, for what `set` turns.
template <typename Set>
void expect_inverse(std::optional<int64_t> answer, const Document& document, const Device& device,
                    int64_t overhead, Set set) {
  if (!answer) return;  // no limit
  Bindings values = document.values;
  if (*answer > 0) {
    set(values, *answer);
    EXPECT_TRUE(fits(document, values, device, overhead)) << *answer;
  }
  set(values, *answer + 1);
  EXPECT_FALSE(fits(document, values, device, overhead)) << *answer;
}

void expect_inverses(const Document& document, const Device& device, int64_t overhead) {
  SCOPED_TRACE(device.id + ", overhead " + std::to_string(overhead));
  const Estimate& estimate = document.estimate;
  ASSERT_TRUE(estimate.total_bytes.formula);
  expect_inverse(largest_batch(estimate, document.values, device, overhead), document, device,
                 overhead,
                 [](Bindings& values, int64_t batch) { values[std::string(kBatchSize)] = batch; });
  expect_inverse(longest_length(estimate, document.values, device, overhead), document, device,
                 overhead, [](Bindings& values, int64_t length) {
                   values[std::string(kCurrentLength)] = length;
                   values[std::string(kMaxLength)] = length;
                 });
}

TEST(FitTruth, TheAnswerFitsAndTheNextDoesNot) {
  std::mt19937 random(7);
  const auto up_to = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(1, most)(random);
  };
  for (const char* name :
       {"llama-3-8b", "llama-3-70b", "deepseek-v3", "gemma-3-1b", "qwen3-235b-a22b", "gpt-oss-20b",
        "mistral-7b-v0.1", "falcon-7b", "jamba-v0.1", "lfm2-1.2b"}) {
    for (const Mode mode : {Mode::kPrefill, Mode::kDecode}) {
      SCOPED_TRACE(std::string(name) + ", " + std::string(kcharter::name(mode)));
      Document document = charted(name, mode, 1024);
      for (const Device& device : device_table()) {
        if (!device.memory_bytes) continue;
        const int64_t current = up_to(20000);
        document.values[std::string(kBatchSize)] = up_to(64);
        document.values[std::string(kCurrentLength)] = current;
        document.values[std::string(kMaxLength)] = current + up_to(20000);
        document.values[std::string(kTensorParallelSize)] = up_to(16);
        document.values[std::string(kPipelineParallelSize)] = up_to(4);
        document.values[std::string(kDataParallelSize)] = up_to(3);
        expect_inverses(document, device, up_to(int64_t{4} << 30));
      }
    }
  }
}

}  // namespace
}  // namespace kcharter::truth
