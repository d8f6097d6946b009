// Prices of the usual findings at the sizes of Llama-3-8B in bf16 on an H100, against arithmetic
// done by hand: passes over tensors of known size, at 3.35 TB/s and 989 Tflop/s.
#include <gtest/gtest.h>

#include "kcharter/advise/advise.h"
#include "kcharter/advise/saved_time.h"
#include "reference/toy_graph.h"

namespace kcharter {
namespace {

using reference::flat_tree;
using reference::ToyGraph;

constexpr DType kType = DType::kBF16;
const Expr kLength = Expr::variable("current_length");
const Bindings kValues{{"batch_size", 1}, {"current_length", 8192}, {"max_length", 8192}};
constexpr int kLayers = 32;

struct Saved {
  double seconds = 0;  // at the device's peaks
  double bytes = 0;
  double flops = 0;
  double launches = 0;
  double peak_bytes = 0;
};

double number(const Quantity& quantity) {
  return static_cast<double>(quantity.formula.value().evaluate(kValues));
}

Saved saved(const ToyGraph& toy, std::string_view pattern) {
  const ModuleTree tree = flat_tree(toy.model);
  const Estimate costs = estimate(toy.model, tree, kValues, {});
  const Advice advice = advise(toy.model, tree, costs, kValues);
  std::vector<const FindingSite*> sites;
  Saved sum;
  for (const FindingSite& site : advice.sites) {
    if (advice.findings[site.finding].pattern->id == pattern) sites.push_back(&site);
  }
  for (const Finding& finding : advice.findings) {
    if (finding.pattern->id != pattern) continue;
    for (const Metric metric :
         {Metric::kWeightReadBytes, Metric::kKvReadBytes, Metric::kKvWriteBytes,
          Metric::kActivationReadBytes, Metric::kActivationWriteBytes}) {
      sum.bytes += number(finding.saves.metrics[metric]);
    }
    sum.flops += number(finding.saves.metrics[Metric::kFlops]);
    sum.launches += number(finding.saves.launches);
    sum.peak_bytes += static_cast<double>(finding.saves.peak_bytes.value());
  }
  TimePrices times(toy.model, tree, costs, kValues, *find_device("h100-sxm"));
  sum.seconds = times.of(sites).bound;
  return sum;
}

#define EXPECT_ABOUT(value, expected) EXPECT_NEAR(value, expected, 0.1 * (expected))

void gives(ToyGraph& toy, std::vector<ValueId> values) {
  toy.model.graph.outputs = std::move(values);
}

ToyGraph attention(const Expr& queries, const Expr& keys) {
  ToyGraph toy;
  const std::vector<Expr> scores{1, 32, queries, keys};
  ValueId product = toy.apply(
      "MatMul", {toy.input({1, 32, queries, 128}, kType), toy.input({1, 32, 128, keys}, kType)},
      scores, kType);
  ValueId weights = toy.apply("Softmax", {product}, scores, kType);
  gives(toy, {toy.apply("MatMul", {weights, toy.input({1, 32, keys, 128}, kType)},
                        {1, 32, queries, 128}, kType)});
  return toy;
}

TEST(LlamaPrices, ScoresInPrefill) {
  const Saved of_layer = saved(attention(kLength, kLength), "scores-materialised");
  EXPECT_ABOUT(kLayers * of_layer.bytes, 550e9);
  EXPECT_ABOUT(kLayers * of_layer.seconds, 164e-3);
  EXPECT_GT(of_layer.peak_bytes, 4e9);  // one layer's scores at least
}

TEST(LlamaPrices, MaskedHalfInPrefill) {
  ToyGraph toy = attention(kLength, kLength);
  Cache cache;
  cache.output = toy.model.graph[NodeId(2)].inputs[1];
  toy.model.graph.caches.push_back(cache);
  const Saved of_layer = saved(toy, "masked-half-computed");
  EXPECT_ABOUT(kLayers * of_layer.flops, 17.6e12);
  EXPECT_ABOUT(kLayers * of_layer.seconds, 17.8e-3);
}

TEST(LlamaPrices, LogitsInPrefill) {
  ToyGraph toy;
  ValueId rows = toy.apply(
      "Gather", {toy.weight({128256, 4096}, kType), toy.input({1, kLength}, DType::kInt64)},
      {1, kLength, 4096}, kType);
  gives(toy, {toy.apply("MatMul",
                        {toy.apply("Softmax", {rows}, {1, kLength, 4096}, kType),
                         toy.weight({4096, 128256}, kType)},
                        {1, kLength, 128256}, kType)});
  toy.model.architecture = "LlamaForCausalLM";
  const Saved head = saved(toy, "logits-of-all-tokens");
  EXPECT_ABOUT(head.flops, 8.6e12);
  EXPECT_ABOUT(head.seconds, 8.7e-3 + 0.6e-3);
  EXPECT_ABOUT(head.peak_bytes, 2.1e9);
}

TEST(LlamaPrices, RepeatedKeysAndValuesInDecode) {
  ToyGraph toy;
  const auto repeated = [&](std::vector<Expr> dims) {
    std::vector<Expr> all = dims;
    all[1] = 32;
    return toy.apply("Expand", {toy.input(dims, kType), toy.weight({4}, DType::kInt64)}, all,
                     kType);
  };
  ValueId keys = repeated({1, 8, 128, kLength});
  ValueId values = repeated({1, 8, kLength, 128});
  const std::vector<Expr> scores{1, 32, 1, kLength};
  ValueId product = toy.apply("MatMul", {toy.input({1, 32, 1, 128}, kType), keys}, scores, kType);
  gives(toy, {toy.apply("MatMul", {toy.apply("Softmax", {product}, scores, kType), values},
                        {1, 32, 1, 128}, kType)});
  const Saved of_layer = saved(toy, "repeated-keys-values");
  EXPECT_ABOUT(kLayers * of_layer.bytes, 8.6e9);
  EXPECT_ABOUT(kLayers * of_layer.seconds, 2.6e-3);
}

TEST(LlamaPrices, GrownCacheInDecode) {
  ToyGraph toy;
  std::vector<ValueId> presents;
  for (int half = 0; half < 2; ++half) {
    ValueId past = toy.input({1, 8, kLength - 1, 128}, kType);
    ValueId fresh = toy.input({1, 8, 1, 128}, kType);
    ValueId present = toy.apply("Concat", {past, fresh}, {1, 8, kLength, 128}, kType);
    Cache cache;
    cache.input = past;
    cache.output = present;
    cache.copied = true;
    cache.format = element_format(kType);
    toy.model.graph.caches.push_back(cache);
    presents.push_back(present);
  }
  gives(toy, presents);
  const Saved of_layer = saved(toy, "grown-cache");
  EXPECT_ABOUT(kLayers * of_layer.bytes, 2.1e9);
  EXPECT_ABOUT(kLayers * of_layer.seconds, 0.64e-3);
}

// Cast, square, mean, + ε, √, 1/, cast, · and · γ: nine operators, the residual in bf16.
ToyGraph decomposed_norm(const Expr& tokens) {
  ToyGraph toy;
  const std::vector<Expr> rows{1, tokens, 4096}, one{1, tokens, 1};
  ValueId x = toy.input(rows, kType);
  ValueId wide = toy.apply("Cast", {x}, rows);
  ValueId mean = toy.apply("ReduceMean", {toy.apply("Pow", {wide, toy.weight({})}, rows)}, one);
  ValueId root = toy.apply("Sqrt", {toy.apply("Add", {mean, toy.weight({})}, one)}, one);
  ValueId inverse = toy.apply("Cast", {toy.apply("Reciprocal", {root}, one)}, one, kType);
  ValueId normed = toy.apply("Mul", {x, inverse}, rows, kType);
  gives(toy, {toy.apply("Mul", {normed, toy.weight({4096}, kType)}, rows, kType)});
  return toy;
}

TEST(LlamaPrices, DecomposedNorms) {
  constexpr int kNorms = 2 * kLayers + 1;
  EXPECT_EQ(kNorms * saved(decomposed_norm(1), "decomposed-norm").launches, 520);
  EXPECT_ABOUT(kNorms * saved(decomposed_norm(kLength), "decomposed-norm").seconds, 15.6e-3);
}

ToyGraph projections(const Expr& tokens, std::vector<int64_t> widths) {
  ToyGraph toy;
  ValueId x = toy.input({1, tokens, 4096}, kType);
  for (const int64_t width : widths) {
    toy.model.graph.outputs.push_back(
        toy.apply("MatMul", {x, toy.weight({4096, width}, kType)}, {1, tokens, width}, kType));
  }
  return toy;
}

TEST(LlamaPrices, SeparateProjections) {
  const std::vector<int64_t> qkv{4096, 1024, 1024}, gate_up{14336, 14336};
  const std::string_view pattern = "products-of-one-input";
  EXPECT_EQ(kLayers * saved(projections(1, qkv), pattern).launches, 64);
  EXPECT_EQ(kLayers * saved(projections(1, gate_up), pattern).launches, 32);
  EXPECT_ABOUT(kLayers * saved(projections(kLength, qkv), pattern).bytes, 4.3e9);
  EXPECT_ABOUT(kLayers * saved(projections(kLength, qkv), pattern).seconds, 1.3e-3);
}

}  // namespace
}  // namespace kcharter
