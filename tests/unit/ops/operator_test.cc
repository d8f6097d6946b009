#include "kcharter/ops/operator.h"

#include <gtest/gtest.h>

#include "ops/attention_pairs.h"
#include "reference/toy_graph.h"

namespace kcharter {
namespace {

using reference::ToyGraph;

Expr parse(std::string_view text) { return Expr::parse(text); }
Attribute attribute(std::string name, AttributeValue value) {
  return {std::move(name), std::move(value)};
}

Work work_of(const ToyGraph& toy, NodeId id) {
  const Node& node = toy.model.graph[id];
  return find_operator(node.domain, node.op_type)->work(toy.model.graph, node);
}

TEST(Operator, KnowsByDomainAndName) {
  EXPECT_NE(find_operator("", "MatMul"), nullptr);
  EXPECT_EQ(find_operator("ai.onnx", "MatMul"), find_operator("", "MatMul"));
  EXPECT_EQ(find_operator("com.acme", "MatMul"), nullptr);
  EXPECT_TRUE(find_operator("", "Reshape")->is_view);
}

TEST(Operator, MatMulCountsEveryBroadcastBatch) {
  ToyGraph toy;
  Expr batch = Expr::variable("batch_size");
  ValueId a = toy.input({batch, 12, 256, 64});
  ValueId b = toy.input({1, 12, 64, 256});
  ValueId c = toy.value({batch, 12, 256, 256});
  EXPECT_EQ(work_of(toy, toy.node("MatMul", {a, b}, {c})).flops,
            2 * 12 * 256 * 64 * Expr(256) * batch);
}

TEST(Operator, GemmReadsItsTransposes) {
  ToyGraph toy;
  ValueId c = toy.value({10, 30});
  NodeId node = toy.node("Gemm", {toy.input({20, 10}), toy.weight({30, 20}), toy.weight({30})}, {c},
                         {attribute("transA", int64_t{1}), attribute("transB", int64_t{1})});
  EXPECT_EQ(work_of(toy, node).flops, Expr(2 * 10 * 20 * 30));
  EXPECT_EQ(work_of(toy, node).elementwise_flops, Expr(300));
}

TEST(Operator, EinsumSumsOverWhatTheOutputLacks) {
  ToyGraph toy;
  NodeId node = toy.node("Einsum", {toy.input({2, 3, 4, 5}), toy.input({2, 6, 4, 5})},
                         {toy.value({2, 4, 3, 6})}, {attribute("equation", "bqhd, bkhd -> bhqk")});
  EXPECT_EQ(work_of(toy, node).flops, Expr(2 * 2 * 4 * 3 * 6 * 5));
  NodeId with_ellipsis =
      toy.node("Einsum", {toy.input({7, 8, 3, 4}), toy.input({4, 5})}, {toy.value({7, 8, 3, 5})},
               {attribute("equation", "...ij,jk->...ik")});
  EXPECT_EQ(work_of(toy, with_ellipsis).flops, Expr(2 * 7 * 8 * 3 * 4 * 5));
}

TEST(Operator, ConvolutionCountsTheFilterOfItsGroup) {
  ToyGraph toy;
  NodeId depthwise = toy.node("Conv", {toy.input({1, 32, 56, 56}), toy.weight({32, 1, 3, 3})},
                              {toy.value({1, 32, 56, 56})});
  EXPECT_EQ(work_of(toy, depthwise).flops, Expr(2 * 32 * 56 * 56 * 9));
  NodeId transposed =
      toy.node("ConvTranspose", {toy.input({1, 8, 10, 10}), toy.weight({8, 4, 2, 2})},
               {toy.value({1, 4, 20, 20})});
  EXPECT_EQ(work_of(toy, transposed).flops, Expr(2 * 8 * 100 * 4 * 4));
}

TEST(Operator, PairsOfCausalAttentionEqualTheSumOverPositions) {
  for (int past = 0; past < 9; ++past) {
    for (int queries = 1; queries < 9; ++queries) {
      for (int window = 0; window < 12; ++window) {
        Int pairs = 0;
        for (int i = past + 1; i <= past + queries; ++i) pairs += window ? std::min(i, window) : i;
        auto limit = window ? std::optional<Expr>(Expr(window)) : std::nullopt;
        EXPECT_EQ(twice_causal_pairs(Expr(queries), Expr(past), limit), Expr(2 * pairs))
            << past << ' ' << queries << ' ' << window;
      }
    }
  }
}

TEST(Operator, GroupQueryAttentionIsCausalOverPastAndPresent) {
  ToyGraph toy;
  Expr b = Expr::variable("batch_size"), p = Expr::variable("past");
  ValueId q = toy.input({b, 1, 32 * 64}), k = toy.input({b, 1, 8 * 64}),
          v = toy.input({b, 1, 8 * 64});
  ValueId past_k = toy.input({b, 8, p, 64}), past_v = toy.input({b, 8, p, 64});
  NodeId node = toy.node(
      "GroupQueryAttention", {q, k, v, past_k, past_v},
      {toy.value({b, 1, 2048}), toy.value({b, 8, p + 1, 64}), toy.value({b, 8, p + 1, 64})},
      {attribute("num_heads", int64_t{32}), attribute("kv_num_heads", int64_t{8})},
      "com.microsoft");
  Work work = work_of(toy, node);
  EXPECT_EQ(work.flops, 4 * 32 * 64 * b * (p + 1));
  EXPECT_EQ(work.read_elements[3], b * 8 * p * 64);
  EXPECT_EQ(work.written_elements[1], b * 8 * 64);
}

TEST(Operator, AttentionOfStaticCacheTouchesWhatIsThere) {
  ToyGraph toy;
  Expr b = Expr::variable("batch_size"), n = Expr::variable("current_length");
  NodeId node =
      toy.node("Attention",
               {toy.input({b, 1, 256}), toy.input({b, 2048, 128}), toy.input({b, 2048, 128}),
                ValueId(), ValueId(), ValueId(), toy.input({b}, DType::kInt64)},
               {toy.value({b, 1, 256})},
               {attribute("q_num_heads", int64_t{4}), attribute("kv_num_heads", int64_t{2}),
                attribute("is_causal", int64_t{1})});
  Work work = work_of(toy, node);
  EXPECT_EQ(work.flops, 4 * 4 * 64 * b * n);
  EXPECT_EQ(work.read_elements[1], b * n * 128);
}

TEST(Operator, GatherReadsRowsAndScatterWritesUpdates) {
  ToyGraph toy;
  Expr s = Expr::variable("current_length");
  NodeId gather = toy.node("Gather", {toy.weight({1000, 64}), toy.input({1, s}, DType::kInt64)},
                           {toy.value({1, s, 64})});
  EXPECT_EQ(work_of(toy, gather).read_elements[0], s * 64);
  NodeId scatter = toy.node("TensorScatter", {toy.input({1, 2048, 64}), toy.input({1, s, 64})},
                            {toy.value({1, 2048, 64})});
  EXPECT_EQ(work_of(toy, scatter).read_elements[0], Expr(0));
  EXPECT_EQ(work_of(toy, scatter).written_elements[0], s * 64);
}

TEST(Operator, PackedWeightsStandForTheirNumbers) {
  ToyGraph toy;
  NodeId node = toy.node("MatMulNBits",
                         {toy.input({1, 5, 256}), toy.weight({512, 8, 16}, DType::kUInt8),
                          toy.weight({4096}), toy.weight({2048}, DType::kUInt8)},
                         {toy.value({1, 5, 512})},
                         {attribute("K", int64_t{256}), attribute("N", int64_t{512}),
                          attribute("bits", int64_t{4}), attribute("block_size", int64_t{32})},
                         "com.microsoft");
  const Node& packed = toy.model.graph[node];
  EXPECT_EQ(logical_elements(toy.model.graph, packed, 1), 256 * 512);
  EXPECT_EQ(logical_elements(toy.model.graph, packed, 2), std::nullopt);
  EXPECT_EQ(tensor_part(packed, 1), TensorPart::kPayload);
  EXPECT_EQ(tensor_part(packed, 2), TensorPart::kScale);
  EXPECT_EQ(tensor_part(packed, 3), TensorPart::kZeroPoint);
  EXPECT_EQ(work_of(toy, node).flops, Expr(2 * 5 * 256 * 512));
}

TEST(Operator, ExpertsReadThoseThatTokensAreExpectedToMeet) {
  ToyGraph toy;
  Expr n = Expr::variable("batch_size");
  NodeId node = toy.node("QMoE",
                         {toy.input({n, 64}), toy.input({n, 8}),
                          toy.weight({8, 256, 32}, DType::kUInt8), toy.weight({8, 256}), ValueId(),
                          toy.weight({8, 64, 64}, DType::kUInt8), toy.weight({8, 64})},
                         {toy.value({n, 64})},
                         {attribute("k", int64_t{2}), attribute("expert_weight_bits", int64_t{4})},
                         "com.microsoft");
  Work work = work_of(toy, node);
  EXPECT_EQ(work.flops, 2 * 2 * n * (256 * 64 + 64 * 128));
  EXPECT_EQ(work.read_elements[2], parse("expected_distinct(8,2,batch_size)*8192"));
  EXPECT_EQ(work.active_share[2].used, 2);
  EXPECT_EQ(logical_elements(toy.model.graph, toy.model.graph[node], 2), 8 * 256 * 64);
}

TEST(Operator, UnknownShapesStayUnknown) {
  ToyGraph toy;
  ValueId a = toy.input({2, 3});
  ValueId c = toy.value({});
  toy.model.graph[c].type.shape = std::nullopt;
  EXPECT_EQ(work_of(toy, toy.node("MatMul", {a, toy.input({3, 4})}, {c})).flops, std::nullopt);
}

}  // namespace
}  // namespace kcharter
