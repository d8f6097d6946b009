#include "kcharter/estimate/estimate.h"

#include <gtest/gtest.h>

#include <random>

#include "reference/simulate_peak.h"
#include "reference/toy_graph.h"

namespace kcharter {
namespace {

using reference::flat_tree;
using reference::ToyGraph;

const Expr kBatch = Expr::variable("batch_size");
const Expr kLength = Expr::variable("current_length");
const Bindings kDefaults{{"batch_size", 1}, {"current_length", 16}, {"max_length", 16}};

Estimate estimated(const Model& model, bool as_exported = false) {
  return estimate(model, flat_tree(model), kDefaults, {.as_exported = as_exported});
}

TEST(Estimate, LinearLayer) {
  ToyGraph toy;
  ValueId x = toy.input({kBatch, 8}, DType::kBF16);
  ValueId y = toy.apply("MatMul", {x, toy.weight({8, 4}, DType::kBF16)}, {kBatch, 4}, DType::kBF16);
  toy.model.graph.outputs = {y};
  Estimate e = estimated(toy.model);
  EXPECT_EQ(e.summary[Metric::kFlops].formula, 64 * kBatch);
  EXPECT_EQ(e.summary[Metric::kWeightBytes].formula, Expr(64));
  EXPECT_EQ(e.summary[Metric::kWeightReadBytes].formula, Expr(64));
  EXPECT_EQ(e.summary[Metric::kActivationReadBytes].formula, 16 * kBatch);
  EXPECT_EQ(e.summary[Metric::kActivationWriteBytes].formula, 8 * kBatch);
  EXPECT_EQ(e.summary[Metric::kActivationPeakBytes].formula, 24 * kBatch);
  EXPECT_EQ(e.total_bytes.formula, 24 * kBatch + 64);
  EXPECT_EQ(e.parameters, 32);
  EXPECT_EQ(e.compute_dtypes[0], DType::kBF16);
  ASSERT_EQ(e.alive_at_peak.size(), 2u);
}

TEST(Estimate, WeightBehindTransposeIsReadOnceAsStored) {
  ToyGraph toy;
  ValueId w = toy.weight({4, 8}, DType::kInt8);
  ValueId real = toy.apply("DequantizeLinear", {w, toy.weight({1})}, {4, 8});
  ValueId transposed = toy.apply("Transpose", {real}, {8, 4});
  ValueId y = toy.apply("MatMul", {toy.input({kBatch, 8}), transposed}, {kBatch, 4});
  toy.model.graph.outputs = {y};
  Estimate folded = estimated(toy.model);
  EXPECT_TRUE(folded.folded_at_load[0] && folded.folded_at_load[1]);
  EXPECT_EQ(folded.summary[Metric::kWeightReadBytes].formula, Expr(32 + 4));
  EXPECT_EQ(folded.summary[Metric::kElementwiseFlops].formula, Expr(0));
  EXPECT_EQ(folded.summary[Metric::kActivationPeakBytes].formula, 48 * kBatch);
  Estimate exported = estimated(toy.model, true);
  EXPECT_EQ(exported.summary[Metric::kActivationWriteBytes].formula, Expr(2 * 128) + 16 * kBatch);
}

TEST(Estimate, EmbeddingReadsRowsAndSharedWeightsCountOnce) {
  ToyGraph toy;
  ValueId table = toy.weight({1000, 64}, DType::kF16);
  ValueId rows =
      toy.apply("Gather", {table, toy.input({kBatch}, DType::kInt64)}, {kBatch, 64}, DType::kF16);
  ValueId turned = toy.apply("Transpose", {table}, {64, 1000}, DType::kF16);
  toy.model.graph.outputs = {toy.apply("MatMul", {rows, turned}, {kBatch, 1000}, DType::kF16)};
  Estimate e = estimated(toy.model);
  EXPECT_EQ(e.summary[Metric::kWeightBytes].formula, Expr(128000));
  EXPECT_EQ(e.summary[Metric::kWeightReadBytes].formula, 128 * kBatch + 128000);
}

TEST(Estimate, GrownCacheIsCacheAndItsCopyIsSaid) {
  ToyGraph toy;
  Expr past = kLength - 1;
  ValueId old_keys = toy.input({kBatch, 2, past, 4}), fresh = toy.input({kBatch, 2, 1, 4});
  ValueId keys = toy.apply("Concat", {old_keys, fresh}, {kBatch, 2, kLength, 4});
  ValueId scores =
      toy.apply("MatMul", {toy.input({kBatch, 2, 1, 4}), keys}, {kBatch, 2, 1, kLength});
  toy.model.graph.outputs = {scores, keys};
  Cache cache;
  cache.input = old_keys;
  cache.output = keys;
  cache.format = element_format(DType::kF32);
  cache.allocated = {{kBatch, 2, Expr::variable("max_length"), 4}};
  cache.copied = true;
  cache.sequence_axis = 2;
  toy.model.graph.caches.push_back(cache);
  Estimate e = estimated(toy.model);
  EXPECT_EQ(e.summary[Metric::kKvCacheBytes].formula, 32 * kBatch * Expr::variable("max_length"));
  EXPECT_EQ(e.summary[Metric::kCacheCopyBytes].formula, 32 * kBatch * kLength);
  EXPECT_EQ(e.summary[Metric::kKvReadBytes].formula, 32 * kBatch * past);
  EXPECT_EQ(e.summary[Metric::kKvWriteBytes].formula, 32 * kBatch);
  EXPECT_EQ(e.summary[Metric::kActivationPeakBytes].formula,
            max(64 * kBatch, 32 * kBatch + 8 * kBatch * kLength));
}

TEST(Estimate, LoopBodyCountsItsTripsAndAnUnknownBranchTheLarger) {
  ToyGraph toy;
  ValueId x = toy.input({4, 4});
  Graph& graph = toy.model.graph;
  auto region = [&](RegionKind kind) {
    graph.regions.push_back(
        {kind, NodeId(), RegionId(0), {}, {}, RegionRuns::kUnknown, Expr(1), false});
    return RegionId(graph.regions.size() - 1);
  };
  RegionId then_branch = region(RegionKind::kThen), else_branch = region(RegionKind::kElse);
  ValueId small = toy.apply("Relu", {x}, {4, 4}), large = toy.apply("MatMul", {x, x}, {4, 4});
  graph.nodes[0].region = graph[small].region = then_branch;
  graph.nodes[1].region = graph[large].region = else_branch;
  graph[then_branch].outputs = {small};
  graph[else_branch].outputs = {large};
  ValueId chosen = toy.value({4, 4});
  NodeId branch = toy.node("If", {toy.input({}, DType::kBool)}, {chosen});
  graph[branch].bodies = {then_branch, else_branch};
  graph[then_branch].owner = graph[else_branch].owner = branch;
  RegionId body = region(RegionKind::kLoop);
  graph[body].trip_count = Expr(5);
  ValueId inner = toy.apply("MatMul", {chosen, x}, {4, 4});
  graph.nodes[3].region = graph[inner].region = body;
  graph[body].outputs = {inner};
  ValueId result = toy.value({4, 4});
  NodeId loop = toy.node("Loop", {chosen}, {result});
  graph[loop].bodies = {body};
  graph[body].owner = loop;
  graph.outputs = {result};
  Estimate e = estimated(toy.model);
  EXPECT_EQ(e.summary[Metric::kFlops].formula, Expr(128 + 5 * 128));
  EXPECT_EQ(e.summary[Metric::kElementwiseFlops].formula, Expr(0));
  EXPECT_TRUE(e.diagnostics.has("undecided-branch"));
  EXPECT_EQ(e.summary[Metric::kActivationPeakBytes].formula->evaluate(kDefaults),
            reference::simulate_peak(toy.model, kDefaults));
}

// One expert's result times whether the router chose its number.
ValueId expert(ToyGraph& toy, ValueId x, ValueId chosen, int64_t number) {
  ValueId own_number = toy.weight({}, DType::kInt64);
  Literal literal{DType::kInt64, {}, {number}, {}};
  toy.model.graph.initializers.back().literal = std::make_shared<const Literal>(literal);
  toy.model.graph.initializers.back().role = TensorRole::kConstant;
  ValueId result = toy.apply("MatMul", {x, toy.weight({8, 8})}, {kBatch, 8});
  ValueId equal = toy.apply("Equal", {chosen, own_number}, {kBatch, 2}, DType::kBool);
  ValueId gate = toy.apply("ReduceSum", {toy.apply("Cast", {equal}, {kBatch, 2})}, {kBatch, 1});
  return toy.apply("Mul", {result, gate}, {kBatch, 8});
}

TEST(Estimate, ExpertsThatAllRunAreSaidAndActiveParametersAreOfTheChoice) {
  ToyGraph toy;
  ValueId x = toy.input({kBatch, 8});
  ValueId scores = toy.apply("MatMul", {x, toy.weight({8, 4})}, {kBatch, 4});
  ValueId count = toy.weight({1}, DType::kInt64);
  Literal two{DType::kInt64, {1}, {2}, {}};
  toy.model.graph.initializers.back().literal = std::make_shared<const Literal>(two);
  toy.model.graph.initializers.back().role = TensorRole::kConstant;
  ValueId best = toy.value({kBatch, 2}), chosen = toy.value({kBatch, 2}, DType::kInt64);
  toy.node("TopK", {scores, count}, {best, chosen});
  ValueId sum = expert(toy, x, chosen, 0);
  for (int64_t i = 1; i < 4; ++i) {
    sum = toy.apply("Add", {sum, expert(toy, x, chosen, i)}, {kBatch, 8});
  }
  toy.model.graph.outputs = {sum};
  Estimate e = estimated(toy.model);
  EXPECT_TRUE(e.diagnostics.has("dense-expert-dispatch"));
  EXPECT_EQ(e.parameters, 32 + 4 * 64);
  EXPECT_EQ(e.active_parameters, 32 + 2 * 64);
  EXPECT_EQ(e.summary[Metric::kFlops].formula, (64 + 4 * 128) * kBatch);
}

TEST(Estimate, UnknownOperatorLeavesTheRestAsALowerBound) {
  ToyGraph toy;
  ValueId a = toy.apply("Relu", {toy.input({8})}, {8});
  ValueId b = toy.value({8});
  toy.node("Foo", {a}, {b}, {}, "com.acme");
  toy.model.graph.outputs = {b};
  Estimate e = estimated(toy.model);
  EXPECT_EQ(e.summary[Metric::kElementwiseFlops].exactness, Exactness::kLowerBound);
  EXPECT_EQ(e.summary[Metric::kFlops].exactness, Exactness::kUnknown);
  EXPECT_TRUE(e.diagnostics.has("unknown-operator"));
}

// Random graphs: chains with branches, views, unused results, outputs in the middle.
Model random_model(std::mt19937& random) {
  ToyGraph toy;
  auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  auto dims = [&]() -> std::vector<Expr> {
    Expr scale(static_cast<int64_t>(1 + pick(9)));
    switch (pick(5)) {
      case 0:
        return {scale * 8};
      case 1:
        return {kBatch, scale * 4};
      case 2:
        return {kBatch, kLength, scale};
      case 3:
        return {kLength - 1, scale * 3};
      default:
        return {kBatch, kLength, kLength};
    }
  };
  std::vector<ValueId> made;
  for (size_t i = 0; i <= pick(3); ++i) made.push_back(toy.input(dims()));
  size_t nodes = 1 + pick(30);
  for (size_t i = 0; i < nodes; ++i) {
    ValueId from = made[pick(made.size())];
    if (pick(4) == 0) {
      ValueId view = toy.value({Expr(1)});
      toy.model.graph[view].type = toy.model.graph[from].type;
      toy.node("Reshape", {from}, {view});
      made.push_back(view);
    } else {
      made.push_back(toy.apply("Where", {from, made[pick(made.size())]}, dims()));
    }
  }
  for (size_t i = 0; i <= pick(3); ++i) toy.model.graph.outputs.push_back(made[pick(made.size())]);
  return toy.model;
}

TEST(ActivationPeak, EqualsTheSimulationOfEveryStep) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 400; ++trial) {
    Model model = random_model(random);
    Estimate e = estimated(model);
    Quantity peak = e.summary[Metric::kActivationPeakBytes];
    ASSERT_TRUE(peak.formula);
    Int at_defaults = peak.formula->evaluate(kDefaults);
    EXPECT_GE(e.packed_peak_bytes.value(), at_defaults);
    EXPECT_LE(e.packed_peak_bytes.value(), 2 * at_defaults);
    for (int64_t batch : {1, 3, 64}) {
      for (int64_t length : {1, 2, 7, 300}) {
        Bindings values{{"batch_size", batch}, {"current_length", length}, {"max_length", length}};
        ASSERT_EQ(peak.formula->evaluate(values), reference::simulate_peak(model, values))
            << trial << ": " << peak.formula->to_string();
      }
    }
  }
}

}  // namespace
}  // namespace kcharter
