#include "kcharter/estimate/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kcharter/analyze/analyze.h"
#include "kcharter/estimate/fit.h"
#include "reference/toy_graph.h"

namespace kcharter {
namespace {

using reference::flat_tree;
using reference::ToyGraph;

struct Sizes {
  int64_t tensor = 1, pipeline = 1, expert = 1, data = 1, stage = 0;
};

Bindings with(Bindings values, const Sizes& sizes) {
  values[std::string(kTensorParallelSize)] = sizes.tensor;
  values[std::string(kPipelineParallelSize)] = sizes.pipeline;
  values[std::string(kExpertParallelSize)] = sizes.expert;
  values[std::string(kDataParallelSize)] = sizes.data;
  values[std::string(kPipelineStage)] = sizes.stage;
  return values;
}

Document config(const std::string& name, Mode mode = Mode::kDecode) {
  AnalyzeOptions options;
  options.import.mode = mode;
  options.workload.current_length = 8192;
  return analyze("models/configs/" + name, options).front();
}

Int value(const Document& document, Metric metric, const Sizes& sizes) {
  return document.estimate.parallel.device[metric].formula->evaluate(with(document.values, sizes));
}

Int weights(const Document& document, const Sizes& sizes) {
  return value(document, Metric::kWeightBytes, sizes);
}

Int cache(const Document& document, const Sizes& sizes) {
  return value(document, Metric::kKvCacheBytes, sizes);
}

constexpr Int ceil_of(Int a, Int b) { return (a + b - 1) / b; }

// By hand: bf16 weights of Llama-3-70B on one of `tp` devices and `layers` of its 80 layers.
Int llama_weights(Int tp, Int layers, bool has_first, bool has_last) {
  constexpr Int kHidden = 8192, kInner = 28672, kVocabulary = 128256, kHead = 128;
  const Int queries = ceil_of(64, tp) * kHead * kHidden;
  const Int keys = ceil_of(8, tp) * kHead * kHidden;
  const Int inner = kHidden * ceil_of(kInner, tp);
  const Int layer = 2 * queries + 2 * keys + 3 * inner + 2 * kHidden;
  const Int table = ceil_of(kVocabulary, tp) * kHidden;
  return 2 * (layers * layer + (has_first ? table : 0) + (has_last ? table + kHidden : 0));
}

TEST(Parallel, Llama70BAt8And16Devices) {
  const Document llama = config("llama-3-70b");
  EXPECT_EQ(weights(llama, {}), Int{70553706496} * 2);
  EXPECT_EQ(weights(llama, {.tensor = 8}), llama_weights(8, 80, true, true));
  EXPECT_EQ(weights(llama, {.tensor = 8}), Int{17640734720});  // 16.43 GiB
  EXPECT_EQ(weights(llama, {.tensor = 16}), llama_weights(16, 80, true, true));
  EXPECT_EQ(weights(llama, {.pipeline = 8, .stage = 0}), llama_weights(1, 10, true, false));
  EXPECT_EQ(weights(llama, {.pipeline = 8, .stage = 3}), llama_weights(1, 10, false, false));
  EXPECT_EQ(weights(llama, {.pipeline = 8, .stage = 7}), llama_weights(1, 10, false, true));
  EXPECT_EQ(weights(llama, {.tensor = 8, .pipeline = 2, .stage = 1}),
            llama_weights(8, 40, false, true));
  // 80 = 11·5 + …: 2 left over of 13 stages go to the last two but one.
  EXPECT_EQ(weights(llama, {.pipeline = 13, .stage = 10}), llama_weights(1, 7, false, false));
  EXPECT_EQ(weights(llama, {.pipeline = 13, .stage = 9}), llama_weights(1, 6, false, false));
  EXPECT_EQ(weights(llama, {.pipeline = 13, .stage = 12}), llama_weights(1, 6, false, true));
  // A head of keys and values each, from 8 devices on.
  const Int head = Int{80} * 8192 * 2 * 128 * 2;
  EXPECT_EQ(cache(llama, {}), 8 * head);
  EXPECT_EQ(cache(llama, {.tensor = 8}), head);
  EXPECT_EQ(cache(llama, {.tensor = 16}), head);
  EXPECT_EQ(cache(llama, {.tensor = 8, .pipeline = 2}), head / 2);
}

// By hand: an fp8 matrix with one f32 scale for each 128×128 block.
Int block_scales(Int out, Int in) { return ceil_of(out, 128) * ceil_of(in, 128) * 4; }
Int fp8(Int out, Int in) { return out * in + block_scales(out, in); }

struct DeepSeek {
  Int tp, experts, inside;  // devices of a tensor group, experts on one, devices that share one

  static constexpr Int kHidden = 7168;
  Int table() const { return ceil_of(129280, tp) * kHidden * 2; }
  Int attention() const {
    const Int whole = fp8(1536, kHidden) + fp8(576, kHidden) + 2 * (1536 + 512 + 2 * kHidden);
    return whole + (fp8(24576, 1536) + fp8(32768, 512) + fp8(kHidden, 16384)) / tp;
  }
  Int dense() const { return attention() + 3 * fp8(18432, kHidden) / tp; }
  Int mixture() const {
    const Int router = 256 * kHidden * 2 + 256 * 4;  // a bias of scores in f32
    return attention() + router + 3 * fp8(2048, kHidden) / tp +
           experts * 3 * fp8(2048, kHidden) / inside;
  }
  // The layer for drafting: a mixture, a projection of two hidden states, three norms, a head and
  // a table of its own.
  Int drafting() const {
    return mixture() + 2 * table() + 3 * kHidden * 2 + Int{2} * kHidden * kHidden * 2;
  }
};

TEST(Parallel, DeepSeekV3At8And16Devices) {
  const Document model = config("deepseek-v3");
  const auto all = [](const DeepSeek& d) {
    return 3 * d.dense() + 58 * d.mixture() + 2 * d.table() + 2 * d.kHidden + d.drafting();
  };
  EXPECT_EQ(weights(model, {}), all({1, 256, 1}));
  EXPECT_EQ(weights(model, {.tensor = 8}), all({8, 256, 8}));
  EXPECT_EQ(weights(model, {.tensor = 8, .expert = 8}), all({8, 32, 1}));
  EXPECT_EQ(weights(model, {.tensor = 16, .expert = 16}), all({16, 16, 1}));
  EXPECT_EQ(weights(model, {.tensor = 8, .expert = 16, .data = 2}), all({8, 16, 1}));
  EXPECT_EQ(weights(model, {.tensor = 8, .expert = 4}), all({8, 64, 2}));
  EXPECT_EQ(weights(model, {.expert = 16, .data = 16}), all({1, 16, 1}));
  // 61 layers in two stages: 31 in the first of two, 30 and what follows in the second.
  const DeepSeek half{8, 256, 8};
  EXPECT_EQ(weights(model, {.tensor = 8, .pipeline = 2, .stage = 0}),
            3 * half.dense() + 28 * half.mixture() + half.table());
  EXPECT_EQ(weights(model, {.tensor = 8, .pipeline = 2, .stage = 1}),
            30 * half.mixture() + half.table() + 2 * half.kHidden + half.drafting());
  // The latent is whole on each device.
  const Int latent = Int{61} * 8192 * 576 * 2;
  EXPECT_EQ(cache(model, {}), latent);
  EXPECT_EQ(cache(model, {.tensor = 8}), latent);
  EXPECT_EQ(cache(model, {.tensor = 16, .expert = 16}), latent);
}

// By hand: bf16 weights of Qwen3-235B-A22B.
Int qwen_weights(Int tp, Int experts, Int inside) {
  constexpr Int kHidden = 4096, kHead = 128;
  const Int attention = (2 * ceil_of(64, tp) + 2 * ceil_of(4, tp)) * kHead * kHidden + 2 * kHead;
  const Int mixture = 128 * kHidden + experts * 3 * kHidden * ceil_of(1536, inside);
  const Int table = ceil_of(151936, tp) * kHidden;
  return 2 * (94 * (attention + mixture + 2 * kHidden) + 2 * table + kHidden);
}

TEST(Parallel, Qwen235BAt8And16Devices) {
  const Document qwen = config("qwen3-235b-a22b");
  EXPECT_EQ(weights(qwen, {}), qwen_weights(1, 128, 1));
  EXPECT_EQ(weights(qwen, {.tensor = 8}), qwen_weights(8, 128, 8));
  EXPECT_EQ(weights(qwen, {.tensor = 8, .expert = 8}), qwen_weights(8, 16, 1));
  EXPECT_EQ(weights(qwen, {.tensor = 16, .expert = 8}), qwen_weights(16, 16, 2));
  EXPECT_EQ(weights(qwen, {.tensor = 8, .expert = 16, .data = 2}), qwen_weights(8, 8, 1));
  // 4 heads of keys and values: one on each device from 4 on.
  const Int head = Int{94} * 8192 * 2 * 128 * 2;
  EXPECT_EQ(cache(qwen, {.tensor = 4}), head);
  EXPECT_EQ(cache(qwen, {.tensor = 8}), head);
  EXPECT_EQ(cache(qwen, {.tensor = 16}), head);
}

// Published logs: the CSV's rows of vLLM and SGLang with tensor parallelism.
TEST(Parallel, PublishedEngineLogs) {
  const Document qwen = config("qwen3-235b-a22b");
  // SGLang, TP4, 367404 tokens: keys of 8.23 GiB.
  Bindings values = with(qwen.values, {.tensor = 4});
  values[std::string(kMaxLength)] = 367404;
  const Int both = qwen.estimate.parallel.device[Metric::kKvCacheBytes].formula->evaluate(values);
  EXPECT_NEAR(static_cast<double>(both) / 2 / (1 << 30), 8.23, 0.005);
  // vLLM, Qwen3-32B, bf16, TP2: 30.59 GiB of weights on each.
  const Document dense = config("qwen3-32b");
  EXPECT_NEAR(static_cast<double>(weights(dense, {.tensor = 2})) / (1 << 30), 30.59, 30.59 * 0.01);
}

const std::vector<std::string> kModels = {
    "llama-3-8b", "deepseek-v2-lite", "gpt-oss-20b", "gemma-3-1b",  "qwen3-coder-next",
    "jamba-v0.1", "lfm2-1.2b",        "falcon-7b",   "gpt2-medium", "granite-3.1-1b-a400m"};

TEST(Parallel, OneDeviceHasAll) {
  for (const std::string& name : kModels) {
    for (const Mode mode : {Mode::kPrefill, Mode::kDecode}) {
      const Document document = config(name, mode);
      Bindings values = with(document.values, {});
      for (const int64_t length : {17, 8192}) {
        values[std::string(kCurrentLength)] = values[std::string(kMaxLength)] = length;
        values[std::string(kBatchSize)] = 3;
        for (size_t i = 0; i < kMetricCount; ++i) {
          const Quantity& whole = document.estimate.summary.all[i];
          const Quantity& device = document.estimate.parallel.device.all[i];
          ASSERT_EQ(whole.formula.has_value(), device.formula.has_value()) << name;
          if (!whole.formula) continue;
          EXPECT_EQ(whole.formula->evaluate(values), device.formula->evaluate(values))
              << name << " " << kcharter::name(static_cast<Metric>(i)) << " " << length;
        }
      }
      for (const SplitCondition& condition : document.estimate.parallel.conditions) {
        EXPECT_EQ(condition.violation.evaluate(values), 0) << name << " " << condition.subject;
      }
    }
  }
}

// Every byte of weights and cache is on some stage, and no stage has more than all.
TEST(Parallel, StagesAddUpToTheModel) {
  for (const std::string& name : kModels) {
    const Document document = config(name);
    for (const int64_t stages : {1, 2, 3, 5, 8}) {
      Int held = 0, kept = 0;
      for (int64_t stage = 0; stage < stages; ++stage) {
        held += weights(document, {.pipeline = stages, .stage = stage});
        kept += cache(document, {.pipeline = stages, .stage = stage});
      }
      // A tied table is on both ends.
      EXPECT_GE(held, weights(document, {})) << name << " " << stages;
      EXPECT_EQ(kept, cache(document, {})) << name << " " << stages;
    }
  }
}

TEST(Parallel, MoreDevicesHoldNoMoreEach) {
  for (const std::string& name : kModels) {
    const Document document = config(name);
    for (const Metric metric : {Metric::kWeightBytes, Metric::kKvCacheBytes, Metric::kStateBytes,
                                Metric::kActivationPeakBytes, Metric::kFlops}) {
      for (int64_t size = 1; size < 16; size *= 2) {
        EXPECT_LE(value(document, metric, {.tensor = 2 * size}),
                  value(document, metric, {.tensor = size}))
            << name << " " << kcharter::name(metric) << " " << size;
      }
    }
  }
}

// Column, elementwise, row: an all-reduce of the result and nothing else.
TEST(Parallel, TwoMatricesOfAGraphWithoutNames) {
  ToyGraph toy;
  const Expr rows = Expr::variable("batch_size");
  ValueId x = toy.input({rows, 64});
  ValueId up = toy.apply("MatMul", {x, toy.weight({64, 256})}, {rows, 256});
  ValueId bias = toy.apply("Add", {up, toy.weight({256})}, {rows, 256});
  ValueId active = toy.apply("Relu", {bias}, {rows, 256});
  ValueId down = toy.apply("MatMul", {active, toy.weight({256, 64})}, {rows, 64});
  ValueId sum = toy.apply("Add", {down, x}, {rows, 64});
  ValueId scaled = toy.apply("LayerNormalization", {sum, toy.weight({64})}, {rows, 64});
  toy.model.graph.outputs = {scaled};
  const Bindings defaults{{"batch_size", 8}, {"current_length", 1}, {"max_length", 1}};
  const Estimate e = estimate(toy.model, flat_tree(toy.model), defaults, {});
  const Bindings values = with(defaults, {.tensor = 4});
  const auto on_device = [&](Metric metric) {
    return e.parallel.device[metric].formula->evaluate(values);
  };
  EXPECT_EQ(on_device(Metric::kWeightBytes), 4 * (64 * 64 + 64 + 64 * 64 + 64));
  EXPECT_EQ(on_device(Metric::kFlops), 2 * 8 * 64 * 64 * 2);
  for (const Communication& sent : e.parallel.communication) {
    const bool is_reduce = sent.operation == Collective::kAllReduce;
    EXPECT_EQ(sent.bytes.formula->evaluate(values), is_reduce ? 2 * 3 * (8 * 64 * 4) / 4 : 0);
    EXPECT_EQ(sent.calls.formula->evaluate(values), is_reduce ? 1 : 0);
  }
}

TEST(Parallel, RefusedAndUnevenSplitsAreNamed) {
  const Document llama = config("llama-3-70b");
  const auto violated = [&](const Sizes& sizes) {
    std::vector<std::string> found;
    for (const SplitCondition& condition : llama.estimate.parallel.conditions) {
      if (condition.violation.evaluate(with(llama.values, sizes)) != 0) {
        found.push_back(condition.code + " " + condition.subject);
      }
    }
    return found;
  };
  EXPECT_TRUE(violated({.tensor = 16}).empty());  // a head of keys on two devices each
  const std::vector<std::string> three = violated({.tensor = 3});
  EXPECT_NE(std::find(three.begin(), three.end(), "refused-split 64 heads"), three.end());
  EXPECT_NE(std::find(three.begin(), three.end(), "refused-split 8 heads of keys and values"),
            three.end());
  EXPECT_EQ(violated({.pipeline = 3}), std::vector<std::string>{"uneven-split 80 layers"});
  EXPECT_EQ(violated({.pipeline = 81}).front(), "refused-split 80 layers");
  EXPECT_EQ(violated({.pipeline = 2, .stage = 2}).front(), "refused-split pipeline_stage");
}

TEST(Parallel, FewestDevicesFitAndOneLessDoesNot) {
  const Document llama = config("llama-3-70b");
  const Device& device = *find_device("h100-sxm");
  const auto group = fewest_devices(llama.estimate, llama.values, device);
  ASSERT_TRUE(group.has_value());
  EXPECT_EQ(group->devices, 2);
  EXPECT_EQ(group->tensor_parallel, 2);
  EXPECT_TRUE(fit(llama.estimate, with(llama.values, {.tensor = 2}), device)->fits());
  EXPECT_FALSE(fit(llama.estimate, llama.values, device)->fits());
}

}  // namespace
}  // namespace kcharter
