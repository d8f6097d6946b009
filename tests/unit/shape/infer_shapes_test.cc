#include "kcharter/shape/infer_shapes.h"

#include <gtest/gtest.h>

#include "unit/support/graph_of.h"

namespace kcharter {
namespace {

using Ints = std::vector<int64_t>;

std::string type_of(const Model& model, ValueId value) {
  return to_string(model.graph[value].type);
}

TEST(InferShapes, SymbolsTravelThroughShapeArithmetic) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kF32, {g.batch, g.length, 64});
  const ValueId shape = g.node("Shape", {x});
  const ValueId rows = g.node("Gather", {shape, g.numbers({0, 1})});
  const ValueId target = g.node("Concat", {rows, g.numbers({4, -1})}, {{"axis", int64_t{0}}});
  const ValueId heads = g.node("Reshape", {x, target});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, heads), "[batch_size, current_length, 4, 16] f32");
  EXPECT_EQ((*model.graph[rows].elements)[1], g.length);
}

TEST(InferShapes, BroadcastKeepsWhatCannotBeOne) {
  GraphOf g;
  const ValueId grown = g.input("grown", DType::kF32, {g.batch, g.length + 1});
  const ValueId unit = g.input("unit", DType::kF32, {1, g.length});
  const ValueId empty = g.input("empty", DType::kF32, {0, 1});
  const ValueId sum = g.node("Add", {grown, unit});
  const ValueId nothing = g.node("Add", {empty, unit});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, sum), "[batch_size, current_length+1] f32");
  EXPECT_EQ(type_of(model, nothing), "[0, current_length] f32");
}

TEST(InferShapes, TwoSymbolsThatMayBeOneAreAnAssumption) {
  GraphOf g;
  const ValueId a = g.input("a", DType::kF32, {g.batch});
  const ValueId b = g.input("b", DType::kF32, {g.length});
  ValueId sum = g.node("Add", {a, b});
  for (int i = 0; i < 5; ++i) sum = g.node("Add", {sum, i % 2 == 0 ? a : b});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, sum), "[max(batch_size,current_length)] f32");
  EXPECT_TRUE(model.diagnostics.has("assumed-broadcast"));
}

TEST(InferShapes, SliceOfATableIsTakenToBeLongEnough) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kInt64, {g.batch, g.length});
  const ValueId table = g.stored("mask", DType::kBool, {1, 1, 1024, 1024});
  const ValueId tokens = g.node("Slice", {g.node("Shape", {x}), g.numbers({1}), g.numbers({2})});
  const ValueId mask = g.node("Slice", {table, g.numbers({0}), tokens, g.numbers({3})});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, mask), "[1, 1, 1024, current_length] bool");
  EXPECT_TRUE(model.diagnostics.has("assumed-limit"));
}

TEST(InferShapes, SliceCountsFromTheEndAndClamps) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kF32, {10, g.length + 4, 7});
  const ValueId cut = g.node("Slice", {x, g.numbers({-3, 0, 6}), g.numbers({INT64_MAX, -1, -8}),
                                       g.numbers({0, 1, 2}), g.numbers({1, 1, -2})});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, cut), "[3, current_length+3, 4] f32");
}

TEST(InferShapes, FloatsThatReachAShapeAreRatios) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kF32, {1, 3, g.length, g.length});
  const ValueId scales = g.stored("scales", DType::kF32, {4}, {}, {1, 1, 0.5, 2});
  const ValueId resized = g.node("Resize", {x, ValueId(), scales});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, resized), "[1, 3, floor_div(current_length,2), 2*current_length] f32");
}

TEST(InferShapes, ConvolutionAndPooling) {
  GraphOf g;
  const ValueId image = g.input("image", DType::kF32, {g.batch, 3, 224, 224});
  const ValueId weight = g.stored("weight", DType::kF32, {64, 3, 7, 7});
  const ValueId features =
      g.node("Conv", {image, weight}, {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}});
  const ValueId pooled =
      g.node("MaxPool", {features},
             {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, features), "[batch_size, 64, 112, 112] f32");
  EXPECT_EQ(type_of(model, pooled), "[batch_size, 64, 56, 56] f32");
}

TEST(InferShapes, AttentionWithACache) {
  GraphOf g;
  const ValueId q = g.input("q", DType::kF16, {g.batch, 1, 2048});
  const ValueId kv = g.input("kv", DType::kF16, {g.batch, 1, 512});
  const ValueId past = g.input("past", DType::kF16, {g.batch, 8, g.length - 1, 64});
  const auto outputs = g.nodes("Attention", {q, kv, kv, ValueId(), past, past}, 3,
                               {{"q_num_heads", int64_t{32}}, {"kv_num_heads", int64_t{8}}});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, outputs[0]), "[batch_size, 1, 2048] f16");
  EXPECT_EQ(type_of(model, outputs[1]), "[batch_size, 8, current_length, 64] f16");
}

TEST(InferShapes, OnnxKnowsWhatHasNoRuleOfOurs) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kF32, {g.batch, 4});
  const ValueId y = g.node("Binarizer", {x}, {{"threshold", 0.5}}, "ai.onnx.ml");
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, y), "[batch_size, 4] f32");
}

TEST(InferShapes, UnknownOperatorLeavesUnknownsAndTheRestGoesOn) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kF32, {g.batch, 4});
  const ValueId strange = g.node("Strange", {x}, {}, "some.domain");
  const ValueId after = g.node("Relu", {strange});
  const ValueId beside = g.node("Relu", {x});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, after), "? unknown");
  EXPECT_EQ(type_of(model, beside), "[batch_size, 4] f32");
  ASSERT_EQ(model.diagnostics.all().size(), 1u);  // the root alone
  EXPECT_EQ(model.diagnostics.all()[0].code, "unknown-shape");
}

TEST(InferShapes, ContradictionIsADiagnosticAndDeclaredTypesFillIn) {
  GraphOf g;
  const ValueId a = g.input("a", DType::kF32, {2, 64});
  const ValueId b = g.input("b", DType::kF32, {128, 3});
  const ValueId sum = g.node("Add", {a, b});
  g.model.graph[sum].declared = TensorType{DType::kF32, Shape{2, 64}};
  const ValueId same = g.node("Relu", {a});
  g.model.graph[same].declared = TensorType{DType::kF32, Shape{2, 65}};
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, sum), "[2, 64] f32");
  EXPECT_EQ(type_of(model, same), "[2, 64] f32");
  EXPECT_TRUE(model.diagnostics.has("shape-contradiction"));
  EXPECT_TRUE(model.diagnostics.has("declared-shape-used"));
  EXPECT_TRUE(model.diagnostics.has("declared-shape-differs"));
}

TEST(InferShapes, ProductWithDifferentInnerDimensionsStillHasAShape) {
  GraphOf g;
  const ValueId a = g.input("a", DType::kF32, {2, 64});
  const ValueId b = g.input("b", DType::kF32, {128, 3});
  const ValueId c = g.node("MatMul", {a, b});
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, c), "[2, 3] f32");
  ASSERT_TRUE(model.diagnostics.has("shape-contradiction"));
  EXPECT_EQ(model.diagnostics.all()[0].message, "inner dimensions differ: 64 and 128");
}

TEST(InferShapes, RankCannotGrowWithoutEnd) {
  GraphOf g;
  ValueId x = g.input("x", DType::kInt64, {g.batch, 4});
  for (int i = 0; i < 60; ++i) x = g.node("Gather", {x, x});
  EXPECT_EQ(type_of(infer_shapes(g.model), x), "? unknown");
}

TEST(InferShapes, DataDependentCountsAreVariablesSharedByLayers) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kBool, {g.batch, g.length});
  const ValueId first = g.node("NonZero", {x});
  const ValueId second = g.node("NonZero", {x});
  const Model model = infer_shapes(g.model);
  ASSERT_EQ(model.variables.size(), 1u);
  EXPECT_EQ(type_of(model, first), "[2, " + model.variables[0].name + "] int64");
  EXPECT_EQ(type_of(model, first), type_of(model, second));
}

// An accumulating loop: y = Concat(y, x) for 5 iterations.
TEST(InferShapes, LoopCarriedDimensionGrowsWithEachTrip) {
  GraphOf g;
  const ValueId x = g.input("x", DType::kF32, {g.batch, 4});
  const RegionId body = g.body(RegionKind::kLoop);
  const ValueId counter = g.value("counter", {}, body);
  const ValueId condition = g.value("condition", {}, body);
  const ValueId carried = g.value("carried", {}, body);
  const ValueId longer = g.node("Concat", {carried, x}, {{"axis", int64_t{1}}}, "", body);
  const ValueId goes_on = g.node("Identity", {condition}, {}, "", body);
  g.model.graph[body].inputs = {counter, condition, carried};
  g.model.graph[body].outputs = {goes_on, longer, x};
  const auto outputs = g.nodes("Loop", {g.number(5), ValueId(), x}, 2);
  g.model.graph.nodes.back().bodies = {body};
  g.model.graph[body].owner = NodeId(g.model.graph.nodes.size() - 1);
  const Model model = infer_shapes(g.model);
  EXPECT_EQ(type_of(model, outputs[0]), "[batch_size, 24] f32");
  EXPECT_EQ(type_of(model, outputs[1]), "[5, batch_size, 4] f32");
  EXPECT_EQ(model.graph[body].trip_count, Dim(Expr(5)));
  EXPECT_FALSE(model.graph[body].trip_count_is_bound);
}

// If (size of axis 1 == 1) then Squeeze else Identity.
struct SqueezeByIf {
  GraphOf g;
  RegionId then_body, else_body;
  ValueId result;

  explicit SqueezeByIf(Expr size) {
    const ValueId x = g.input("x", DType::kF32, {g.batch, size, 4});
    const ValueId axis = g.node("Gather", {g.node("Shape", {x}), g.number(1)});
    const ValueId is_one = g.node("Equal", {axis, g.number(1)});
    then_body = g.body(RegionKind::kThen);
    else_body = g.body(RegionKind::kElse);
    const ValueId squeezed = g.node("Squeeze", {x, g.numbers({1})}, {}, "", then_body);
    const ValueId kept = g.node("Identity", {x}, {}, "", else_body);
    g.model.graph[then_body].outputs = {squeezed};
    g.model.graph[else_body].outputs = {kept};
    result = g.node("If", {is_one});
    g.model.graph.nodes.back().bodies = {then_body, else_body};
    for (const RegionId body : {then_body, else_body}) {
      g.model.graph[body].owner = NodeId(g.model.graph.nodes.size() - 1);
    }
  }
};

TEST(InferShapes, IfFollowsAConditionThatIsKnown) {
  const SqueezeByIf one(1);
  const Model squeezed = infer_shapes(one.g.model);
  EXPECT_EQ(type_of(squeezed, one.result), "[batch_size, 4] f32");
  EXPECT_EQ(squeezed.graph[one.then_body].runs, RegionRuns::kYes);
  EXPECT_EQ(squeezed.graph[one.else_body].runs, RegionRuns::kNo);
  EXPECT_FALSE(squeezed.diagnostics.has("assumed-branch"));
  const SqueezeByIf two(2);
  EXPECT_EQ(type_of(infer_shapes(two.g.model), two.result), "[batch_size, 2, 4] f32");
}

TEST(InferShapes, SqueezeOfASizeThatMayBeOneIsFollowed) {
  const SqueezeByIf some(Expr::variable("current_length"));
  const Model model = infer_shapes(some.g.model);
  EXPECT_EQ(type_of(model, some.result), "[batch_size, 4] f32");
  EXPECT_TRUE(model.diagnostics.has("assumed-branch"));
}

}  // namespace
}  // namespace kcharter
