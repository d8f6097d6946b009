// What a finding promises is what the rewritten graph costs less.
#include <gtest/gtest.h>

#include "kcharter/advise/advise.h"
#include "kcharter/estimate/time.h"
#include "reference/toy_graph.h"

namespace kcharter {
namespace {

using reference::flat_tree;
using reference::ToyGraph;

const Expr kBatch = Expr::variable("batch_size");
const Expr kLength = Expr::variable("current_length");
const Bindings kValues{{"batch_size", 2}, {"current_length", 16}, {"max_length", 16}};

struct Cost {
  Int moved = 0;
  Int flops = 0;
  Int launches = 0;
  friend bool operator==(const Cost&, const Cost&) = default;
};
void PrintTo(const Cost& cost, std::ostream* out) {
  *out << static_cast<int64_t>(cost.moved) << " bytes, " << static_cast<int64_t>(cost.flops)
       << " flops, " << static_cast<int64_t>(cost.launches) << " launches";
}

Int at_values(const Quantity& quantity) { return quantity.formula.value().evaluate(kValues); }

Cost cost_of(const Metrics& metrics) {
  Cost cost;
  for (const Metric metric : {Metric::kWeightReadBytes, Metric::kKvReadBytes, Metric::kKvWriteBytes,
                              Metric::kActivationReadBytes, Metric::kActivationWriteBytes}) {
    cost.moved += at_values(metrics[metric]);
  }
  cost.flops = at_values(metrics[Metric::kFlops]);
  return cost;
}

struct Charted {
  Model model;
  ModuleTree tree;
  Estimate estimate;
};

Charted chart(const ToyGraph& toy) {
  Charted charted{toy.model, flat_tree(toy.model), {}};
  charted.estimate = estimate(charted.model, charted.tree, kValues, {});
  return charted;
}

Cost cost_of(const ToyGraph& toy) {
  const Charted charted = chart(toy);
  Cost cost = cost_of(charted.estimate.summary);
  for (uint32_t i = 0; i < charted.model.graph.nodes.size(); ++i) {
    cost.launches += launch_count(charted.model, charted.tree, charted.estimate, NodeId(i));
  }
  return cost;
}

Cost promised(const ToyGraph& toy, std::string_view pattern) {
  const Charted charted = chart(toy);
  const Advice advice = advise(charted.model, charted.tree, charted.estimate, kValues);
  Cost cost;
  for (const Finding& finding : advice.findings) {
    if (finding.pattern->id != pattern) continue;
    const Cost saved = cost_of(finding.saves.metrics);
    cost.moved += saved.moved;
    cost.flops += saved.flops;
    cost.launches += at_values(finding.saves.launches);
  }
  return cost;
}

void expect_kept(const ToyGraph& before, const ToyGraph& after, std::string_view pattern) {
  const Cost first = cost_of(before), last = cost_of(after);
  const Cost saved{first.moved - last.moved, first.flops - last.flops,
                   first.launches - last.launches};
  EXPECT_EQ(promised(before, pattern), saved) << pattern;
  EXPECT_EQ(promised(after, pattern), Cost{}) << pattern << " is mended";
}

void attribute(ToyGraph& toy, std::string name, AttributeValue value) {
  toy.model.graph.nodes.back().attributes.push_back({std::move(name), std::move(value)});
}

void gives(ToyGraph& toy, ValueId value) { toy.model.graph.outputs = {value}; }

TEST(Rewrite, DecomposedNorm) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64}, one{kBatch, 1};
  ValueId x = a.input(rows);
  ValueId mean = a.apply("ReduceMean", {a.apply("Pow", {x, a.weight({})}, rows)}, one);
  ValueId root = a.apply("Sqrt", {a.apply("Add", {mean, a.weight({})}, one)}, one);
  ValueId normed = a.apply("Div", {x, root}, rows);
  gives(a, a.apply("Mul", {normed, a.weight({64})}, rows));
  gives(b, b.apply("RMSNormalization", {b.input(rows), b.weight({64})}, rows));
  expect_kept(a, b, "decomposed-norm");
}

TEST(Rewrite, ElementwiseChain) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId x = a.input(rows);
  gives(a, a.apply("Mul", {x, a.apply("Sigmoid", {x}, rows)}, rows));
  gives(b, b.apply("Swish", {b.input(rows)}, rows));
  expect_kept(a, b, "elementwise-chain");
}

TEST(Rewrite, CastsThereAndBack) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId wide = a.apply("Cast", {a.input(rows, DType::kF16)}, rows, DType::kF32);
  ValueId back = a.apply("Cast", {wide}, rows, DType::kF16);
  gives(a, a.apply("Softmax", {back}, rows, DType::kF16));
  gives(b, b.apply("Softmax", {b.input(rows, DType::kF16)}, rows, DType::kF16));
  expect_kept(a, b, "redundant-cast");
}

TEST(Rewrite, CastThroughANarrowTypeStays) {
  ToyGraph a;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId narrow = a.apply("Cast", {a.input(rows)}, rows, DType::kF16);
  gives(a, a.apply("Softmax", {a.apply("Cast", {narrow}, rows)}, rows));
  EXPECT_EQ(promised(a, "redundant-cast"), Cost{});
}

TEST(Rewrite, Requantized) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId scale = a.weight({}), zero = a.weight({}, DType::kInt8);
  ValueId real = a.apply("DequantizeLinear", {a.input(rows, DType::kInt8), scale, zero}, rows);
  ValueId again = a.apply("QuantizeLinear", {real, scale, zero}, rows, DType::kInt8);
  gives(a, a.apply("Transpose", {again}, rows, DType::kInt8));
  gives(b, b.apply("Transpose", {b.input(rows, DType::kInt8)}, rows, DType::kInt8));
  expect_kept(a, b, "requantized");
}

TEST(Rewrite, RescalingIsNoRequantization) {
  ToyGraph a;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId zero = a.weight({}, DType::kInt8);
  ValueId real =
      a.apply("DequantizeLinear", {a.input(rows, DType::kInt8), a.weight({}), zero}, rows);
  gives(a, a.apply("QuantizeLinear", {real, a.weight({}), zero}, rows, DType::kInt8));
  EXPECT_EQ(promised(a, "requantized"), Cost{});
}

TEST(Rewrite, CancellingTransposes) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64}, turned{64, kBatch};
  const std::vector<int64_t> swap{1, 0};
  ValueId first = a.apply("Transpose", {a.input(rows)}, turned);
  attribute(a, "perm", swap);
  ValueId last = a.apply("Transpose", {a.apply("Relu", {first}, turned)}, rows);
  attribute(a, "perm", swap);
  gives(a, last);
  gives(b, b.apply("Relu", {b.input(rows)}, rows));
  expect_kept(a, b, "cancelling-transposes");
}

TEST(Rewrite, TransposeBeforeProduct) {
  ToyGraph a, b;
  ValueId keys = a.apply("Transpose", {a.input({kBatch, 32, 8})}, {kBatch, 8, 32});
  attribute(a, "perm", std::vector<int64_t>{0, 2, 1});
  gives(a, a.apply("MatMul", {a.input({kBatch, 4, 8}), keys}, {kBatch, 4, 32}));
  ValueId other = b.input({kBatch, 32, 8});
  gives(b, b.apply("FusedMatMul", {b.input({kBatch, 4, 8}), other}, {kBatch, 4, 32}));
  b.model.graph.nodes.back().domain = "com.microsoft";
  attribute(b, "transB", int64_t{1});
  expect_kept(a, b, "transpose-before-product");
}

TEST(Rewrite, ScoresMaterialised) {
  ToyGraph a, b;
  const std::vector<Expr> heads{kBatch, 4, kLength, 8}, square{kBatch, 4, kLength, kLength};
  ValueId scores = a.apply("MatMul", {a.input(heads), a.input({kBatch, 4, 8, kLength})}, square);
  ValueId weights = a.apply("Softmax", {scores}, square);
  gives(a, a.apply("MatMul", {weights, a.input(heads)}, heads));
  gives(b, b.apply("Attention", {b.input(heads), b.input(heads), b.input(heads)}, heads));
  expect_kept(a, b, "scores-materialised");
}

TEST(Rewrite, RepeatedSubexpression) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId x = a.input(rows);
  gives(a,
        a.apply("Concat", {a.apply("Neg", {x}, rows), a.apply("Neg", {x}, rows)}, {kBatch, 128}));
  ValueId once = b.apply("Neg", {b.input(rows)}, rows);
  gives(b, b.apply("Concat", {once, once}, {kBatch, 128}));
  expect_kept(a, b, "repeated-subexpressions");
}

TEST(Rewrite, ProductsOfOneInput) {
  ToyGraph a, b;
  ValueId x = a.input({kBatch, 64});
  a.model.graph.outputs = {a.apply("MatMul", {x, a.weight({64, 8})}, {kBatch, 8}),
                           a.apply("MatMul", {x, a.weight({64, 24})}, {kBatch, 24})};
  gives(b, b.apply("MatMul", {b.input({kBatch, 64}), b.weight({64, 32})}, {kBatch, 32}));
  expect_kept(a, b, "products-of-one-input");
}

TEST(Rewrite, Epilogue) {
  ToyGraph a, b;
  ValueId product = a.apply("MatMul", {a.input({kBatch, 64}), a.weight({64, 8})}, {kBatch, 8});
  gives(a, a.apply("Add", {product, a.weight({8})}, {kBatch, 8}));
  gives(b, b.apply("Gemm", {b.input({kBatch, 64}), b.weight({64, 8}), b.weight({8})}, {kBatch, 8}));
  expect_kept(a, b, "epilogue-apart");
}

TEST(Rewrite, LogitsOfAllTokens) {
  const auto head = [](const Expr& tokens) {
    ToyGraph toy;
    ValueId ids = toy.input({kBatch, kLength}, DType::kInt64);
    ValueId x = toy.input({kBatch, tokens, 64});
    ValueId rows = toy.apply("Gather", {toy.weight({1000, 64}), ids}, {kBatch, kLength, 64});
    toy.model.graph.outputs = {
        toy.apply("MatMul", {x, toy.weight({64, 1000})}, {kBatch, tokens, 1000}), rows};
    toy.model.architecture = "ToyForCausalLM";
    return toy;
  };
  expect_kept(head(kLength), head(1), "logits-of-all-tokens");
  ToyGraph frames = head(kLength);  // a head over frames needs them all
  frames.model.architecture = "ToyForCTC";
  EXPECT_EQ(promised(frames, "logits-of-all-tokens"), Cost{});
}

TEST(Rewrite, DeadNode) {
  ToyGraph a, b;
  const std::vector<Expr> rows{kBatch, 64};
  ValueId x = a.input(rows);
  a.apply("Neg", {x}, rows);
  gives(a, a.apply("Relu", {x}, rows));
  gives(b, b.apply("Relu", {b.input(rows)}, rows));
  expect_kept(a, b, "dead-nodes");
}

TEST(Rewrite, TheTotalIsNoSum) {
  ToyGraph toy;
  const std::vector<Expr> heads{kBatch, 4, kLength, 8}, square{kBatch, 4, kLength, kLength};
  ValueId keys = toy.apply("Transpose", {toy.input(heads)}, {kBatch, 4, 8, kLength});
  attribute(toy, "perm", std::vector<int64_t>{0, 1, 3, 2});
  ValueId scores = toy.apply("MatMul", {toy.input(heads), keys}, square);
  ValueId weights =
      toy.apply("Softmax", {toy.apply("Mul", {scores, toy.weight({})}, square)}, square);
  gives(toy, toy.apply("MatMul", {weights, toy.input(heads)}, heads));
  const Charted charted = chart(toy);
  const Advice advice = advise(charted.model, charted.tree, charted.estimate, kValues);
  // All in one attention: it reads queries, keys and values and writes the result.
  const Int all = cost_of(charted.estimate.summary).moved;
  EXPECT_EQ(all - cost_of(advice.total.metrics).moved, 4 * 4 * 2 * 4 * 16 * 8);
  EXPECT_EQ(at_values(advice.total.launches), 4);
}

}  // namespace
}  // namespace kcharter
