#include <gmock/gmock.h>

#include <algorithm>

#include "kcharter/base/error.h"
#include "unit/import/onnx/text_graph.h"

namespace kcharter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> op_types(const Graph& graph) {
  std::vector<std::string> types;
  for (const Node& node : graph.nodes) types.push_back(node.op_type);
  return types;
}

TEST(ConvertGraph, ConstantsBecomeInitializersWithTheirNumbers) {
  const Model model = import_text(
      "g (float[N, 6] x) => (float[N, 2, 3] y) {"
      "  s = Constant <value = int64[3] {0, 2, 3}> ()"
      "  y = Reshape(x, s) }");
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  ASSERT_EQ(model.graph.initializers.size(), 1u);
  const Initializer& shape = model.graph.initializers[0];
  EXPECT_EQ(shape.role, TensorRole::kConstant);
  ASSERT_NE(shape.literal, nullptr);
  EXPECT_THAT(shape.literal->integers, ElementsAre(0, 2, 3));
  ASSERT_NE(model.graph[shape.value].elements, nullptr);
  EXPECT_EQ(model.graph[shape.value].elements->at(1), Expr(2));
}

TEST(ConvertGraph, NodesOutOfOrderAreSorted) {
  const Model model = import_text("g (float[4] x) => (float[4] y) { y = Tanh(h)  h = Relu(x) }");
  EXPECT_THAT(op_types(model.graph), ElementsAre("Relu", "Tanh"));
  EXPECT_TRUE(model.diagnostics.has("unsorted-nodes"));
  EXPECT_EQ(model.graph[model.graph.outputs[0]].producer, NodeId(1));
}

TEST(ConvertGraph, ABodyThatCapturesALaterValueWaitsForIt) {
  const Model model = import_text(
      "g (bool c, float[4] x) => (float[4] y) {"
      "  y = If (c) <then_branch = t () => (float[4] a) { a = Tanh(late) },"
      "              else_branch = e () => (float[4] b) { b = Neg(x) }>"
      "  late = Relu(x) }");
  EXPECT_THAT(op_types(model.graph), ElementsAre("Relu", "Tanh", "Neg", "If"));
  ASSERT_EQ(model.graph.regions.size(), 3u);
  EXPECT_EQ(model.graph.regions[1].owner, NodeId(3));
  EXPECT_EQ(model.graph.regions[1].kind, RegionKind::kThen);
  EXPECT_EQ(model.graph.nodes[3].bodies.size(), 2u);
}

TEST(ConvertGraph, ACycleIsAnErrorThatNamesItsNodes) {
  try {
    import_text("g (float[4] x) => (float[4] y) { y = Add(x, h)  h = Relu(y) }");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cycle"));
    EXPECT_THAT(error.what(), HasSubstr("(Relu)"));
  }
}

TEST(ConvertGraph, FunctionsAreInlinedWithTheAttributesOfTheCall) {
  const Model model = import_text(
      "g (float[4] x) => (float[4] y) { h = local.f <a = 0.5> (x)  y = local.f (h) }"
      "<opset_import: [\"\" : 18], domain: \"local\"> f <a: float = 0.25> (u) => (v) {"
      "  v = LeakyRelu <alpha: float = @a> (u) }");
  ASSERT_THAT(op_types(model.graph), ElementsAre("LeakyRelu", "LeakyRelu"));
  EXPECT_EQ(float_attribute(model.graph.nodes[0], "alpha", 0), 0.5);
  EXPECT_EQ(float_attribute(model.graph.nodes[1], "alpha", 0), 0.25);
  EXPECT_EQ(model.graph.nodes[0].since_version, 18);
  EXPECT_EQ(model.graph[model.graph.nodes[0].scope].source, ScopeSource::kFunction);
  EXPECT_EQ(model.graph.nodes[1].inputs[0], model.graph.nodes[0].outputs[0]);
}

TEST(ConvertGraph, AFunctionThatCallsItselfIsRefused) {
  EXPECT_THROW(
      import_text(
          "g (float[4] x) => (float[4] y) { y = local.f (x) }"
          "<opset_import: [\"local\" : 1], domain: \"local\"> f (u) => (v) { v = local.f (u) }"),
      Error);
}

TEST(ConvertGraph, FallbacksOfRuntimesStayOperators) {
  const Model model = import_text(
      "g (float[4] x) => (float[4] y) { y = com.microsoft.Gelu (x) }"
      "<opset_import: [\"\" : 18], domain: \"com.microsoft\"> Gelu (u) => (v) { v = Erf (u) }");
  EXPECT_THAT(op_types(model.graph), ElementsAre("Gelu"));
}

TEST(ConvertGraph, WhatNothingProducesIsUnknownAndSaid) {
  const Model model = import_text("g (float[4] x) => (float[4] y) { y = Add(x, missing) }");
  EXPECT_TRUE(model.diagnostics.has("dangling-input"));
  EXPECT_EQ(model.graph[model.graph.nodes[0].inputs[1]].type.dtype, DType::kUnknown);
}

TEST(ConvertGraph, WeightsListedAsInputsStayWeights) {
  const Model model = import_text(
      "g (float[N, 2] x, float[2, 2] w) => (float[N, 2] y)"
      "<float[2, 2] w = {1.0, 2.0, 3.0, 4.0}> { y = MatMul(x, w) }");
  ASSERT_EQ(model.graph.inputs.size(), 1u);
  ASSERT_EQ(model.graph.initializers.size(), 1u);
  EXPECT_EQ(model.graph.initializers[0].role, TensorRole::kParameter);
}

}  // namespace
}  // namespace kcharter
