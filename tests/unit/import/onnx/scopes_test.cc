#include "import/onnx/scopes.h"

#include <gmock/gmock.h>

namespace kcharter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Scopes, NamesWithSlashes) {
  EXPECT_THAT(segments_of_name("/model/layers.0/self_attn/q_proj/MatMul"),
              ElementsAre("model", "layers.0", "self_attn", "q_proj"));
  EXPECT_THAT(segments_of_name("model/layers.1/o_proj/MatMul_node_43"),
              ElementsAre("model", "layers.1", "o_proj"));
  EXPECT_THAT(segments_of_name("/Add_1"), IsEmpty());
}

TEST(Scopes, AModuleThatRepeatsItsParentsPathIsItsChild) {
  EXPECT_THAT(segments_of_name("/layer2/layer2.1/conv3/Conv"), ElementsAre("layer2", "1", "conv3"));
  EXPECT_THAT(segments_of_name("/layers.0/layers.0.0/MatMul"), ElementsAre("layers.0", "0"));
}

TEST(Scopes, TheNormAfterTheLastLayerIsNoLayer) {
  EXPECT_THAT(segments_of_name("/model/layers.16/final_norm_layernorm/SkipLayerNorm"),
              ElementsAre("model", "final_norm_layernorm"));
}

TEST(Scopes, MetadataIsAPythonList) {
  EXPECT_THAT(parse_python_list("['', 'model', \"it's\"]"), ElementsAre("", "model", "it's"));
  EXPECT_THAT(parse_python_list("not a list"), IsEmpty());
  EXPECT_THAT(parse_python_list("['open"), IsEmpty());
}

TEST(Scopes, TorchWritesWholePathsAndTheOperator) {
  std::vector<Scope> scopes;
  ScopeTable table(scopes);
  NodeView node;
  node.metadata = {{"pkg.torch.onnx.name_scopes", "['', 'model', 'model.layers.1', 'linear']"},
                   {"pkg.torch.onnx.class_hierarchy",
                    "['a.Llama', 'a.Model', 'a.b.Layer', 'aten.linear.default']"}};
  const Scope& scope = scopes[table.of_node(node, ScopeId(0), false).index];
  EXPECT_THAT(scope.segments, ElementsAre("model", "layers", "1"));
  EXPECT_EQ(scope.class_name, "Layer");
  EXPECT_EQ(scope.source, ScopeSource::kMetadata);
}

TEST(Scopes, OnnxscriptWritesEachPartBelowTheLast) {
  std::vector<Scope> scopes;
  ScopeTable table(scopes);
  NodeView node;
  node.metadata = {{"pkg.onnxscript.name_scopes", "['', 'model', 'layers.1']"},
                   {"pkg.onnxscript.class_hierarchy", "['Causal', 'TextModel', 'DecoderLayer']"}};
  const Scope& scope = scopes[table.of_node(node, ScopeId(0), false).index];
  EXPECT_THAT(scope.segments, ElementsAre("model", "layers.1"));
  EXPECT_EQ(scope.class_name, "DecoderLayer");
}

TEST(Scopes, NamespaceOfTorch) {
  std::vector<Scope> scopes;
  ScopeTable table(scopes);
  NodeView node;
  node.metadata = {{"namespace",
                    ": LlamaForCausalLM/model: LlamaModel/model.layers.0: LlamaLayer/linear: "
                    "aten.linear.default"}};
  EXPECT_THAT(scopes[table.of_node(node, ScopeId(0), false).index].segments,
              ElementsAre("model", "layers.0"));
}

}  // namespace
}  // namespace kcharter
