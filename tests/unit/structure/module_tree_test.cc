#include "kcharter/structure/module_tree.h"

#include <gmock/gmock.h>

#include <functional>

#include "unit/support/check_conservation.h"
#include "unit/support/graph_of.h"
#include "unit/support/tree_text.h"

namespace kcharter {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Layers that read the value of the one before: norm(x) · w + x.
class Layers : public GraphOf {
 public:
  Layers() { last = input("x", DType::kF32, {batch, 8}); }

  ScopeId scope(const std::vector<std::string>& segments) {
    Scope added;
    added.segments = segments;
    added.source = ScopeSource::kNodeName;
    model.graph.scopes.push_back(added);
    return ScopeId(model.graph.scopes.size() - 1);
  }

  ValueId op(const std::string& op_type, std::vector<ValueId> inputs, ScopeId at,
             std::vector<Attribute> attributes = {}) {
    ValueId made = node(op_type, std::move(inputs), std::move(attributes));
    model.graph.nodes.back().scope = at;
    model.graph[made].type = {DType::kF32, Shape{batch, Expr(8)}};
    return made;
  }

  void layer(const std::string& path, std::vector<Attribute> norm = {},
             const std::string& activation = "Relu") {
    std::vector<std::string> at = {"model", path};
    ScopeId self = scope(at), inner = scope({"model", path, "norm"}),
            mlp = scope({"model", path, "mlp"});
    ValueId weight = stored("model." + path + ".mlp.weight", DType::kF32, {8, 8});
    ValueId x = op("LayerNormalization", {last}, inner, std::move(norm));
    x = op(activation, {op("MatMul", {x, weight}, mlp)}, mlp);
    last = op("Add", {last, x}, self);
  }

  ModuleTree tree() {
    if (model.graph.outputs.empty()) model.graph.outputs.push_back(last);
    ModuleTree tree = build_module_tree(model);
    EXPECT_THAT(check_conservation(tree, model.graph), IsEmpty());
    return tree;
  }

  ValueId last;
};

std::vector<const Module*> stages(const ModuleTree& tree) {
  std::vector<const Module*> stages;
  for (const Module& module : tree.modules) {
    if (module.is_stage) stages.push_back(&module);
  }
  return stages;
}

const Module& module_at(const ModuleTree& tree, const std::string& path) {
  for (const Module& module : tree.modules) {
    if (module.path == path) return module;
  }
  throw std::runtime_error("no module " + path);
}

TEST(ModuleTree, FoldsARunOfEqualLayers) {
  Layers g;
  for (int i = 0; i < 12; ++i) g.layer("layers." + std::to_string(i));
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  const Module& stage = *stages(tree)[0];
  EXPECT_EQ(stage.path, "model.layers[0:12]");
  EXPECT_EQ(stage.name, "Stage 1");
  EXPECT_EQ(stage.repeat, 12);
  EXPECT_EQ(stage.kind, "norm + linear");
  EXPECT_EQ(stage.instances.back(), "model.layers.11");
  ASSERT_EQ(stage.carried.size(), 1u);
  EXPECT_EQ(g.model.graph[stage.carried[0].read].name, "x");
  const Module& mlp = module_at(tree, "model.layers.0.mlp");
  EXPECT_EQ(mlp.multiplicity, 12);
  EXPECT_THAT(mlp.initializers, ElementsAre(InitializerId(0)));
}

TEST(ModuleTree, FoldsAPeriodOfUnequalLayersIntoAStageOfStages) {
  Layers g;
  for (int i = 0; i < 12; ++i) {
    g.layer("layers." + std::to_string(i), {{"epsilon", i % 6 == 5 ? 0.5 : 0.25}});
  }
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 2u);
  EXPECT_EQ(stages(tree)[0]->path, "model.layers[0:12]");
  EXPECT_THAT(stages(tree)[0]->instances, ElementsAre("model.layers[0:6]", "model.layers[6:12]"));
  EXPECT_EQ(stages(tree)[1]->path, "model.layers[0:5]");
  EXPECT_EQ(stages(tree)[1]->multiplicity, 10);
  EXPECT_EQ(module_at(tree, "model.layers.5").multiplicity, 2);
}

TEST(ModuleTree, NeverFoldsADifference) {
  const std::vector<std::function<void(Layers&, int)>> differences = {
      [](Layers& g, int i) {
        g.layer("layers." + std::to_string(i), {}, i == 1 ? "Tanh" : "Relu");
      },
      [](Layers& g, int i) {
        g.layer("layers." + std::to_string(i), {{"epsilon", i == 1 ? 0.5 : 0.25}});
      },
      [](Layers& g, int i) {
        g.layer("layers." + std::to_string(i));
        if (i == 1) g.model.graph.initializers.back().dtype = DType::kF16;
      },
      [](Layers& g, int i) {
        g.layer("layers." + std::to_string(i));
        if (i == 1) g.model.graph.values.back().type.dtype = DType::kF16;
      },
      // Reads the value two layers before.
      [](Layers& g, int i) {
        ValueId before = g.last;
        g.layer("layers." + std::to_string(i));
        if (i == 0) g.model.graph.nodes[1].inputs[0] = before;
      }};
  for (const auto& add : differences) {
    Layers g;
    for (int i = 0; i < 3; ++i) add(g, i);
    const ModuleTree tree = g.tree();
    for (const Module* stage : stages(tree)) EXPECT_LT(stage->repeat, 3);
  }
}

TEST(ModuleTree, FirstLayerThatLacksTheCarriedInputIsANamedDifference) {
  Layers g;
  ValueId residual = g.last, hidden;
  for (int i = 0; i < 4; ++i) {
    std::string path = "layers." + std::to_string(i);
    ScopeId norm = g.scope({"model", path, "norm"}), mlp = g.scope({"model", path, "mlp"});
    ValueId gamma = g.stored("model." + path + ".norm.weight", DType::kF32, {8});
    ValueId weight = g.stored("model." + path + ".mlp.weight", DType::kF32, {8, 8});
    ValueId x;
    if (i == 0) {
      x = g.op("RMSNormalization", {residual, gamma}, norm);
    } else {
      std::vector<ValueId> made = g.nodes("SkipSimplifiedLayerNormalization",
                                          {residual, hidden, gamma}, 4, {}, "com.microsoft");
      g.model.graph.nodes.back().scope = norm;
      for (ValueId value : made) g.model.graph[value].type = g.model.graph[g.last].type;
      x = made[0];
      residual = made[3];
    }
    hidden = g.op("MatMul", {x, weight}, mlp);
    hidden = g.op("Add", {hidden, residual}, mlp);
  }
  g.last = g.op("Sub", {hidden, residual}, g.scope({"model", "out"}));
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  EXPECT_EQ(stages(tree)[0]->repeat, 4);
  EXPECT_THAT(stages(tree)[0]->differences, ElementsAre(HasSubstr("lacks the carried input")));
  ASSERT_EQ(tree.variants.size(), 1u);
  EXPECT_EQ(tree.variants[0].count, 3);
}

TEST(ModuleTree, ExpertsFoldWithTheRoutingNodesBesideThem) {
  Layers g;
  ScopeId moe = g.scope({"moe"});
  ValueId route = g.op("Softmax", {g.last}, moe), sum = g.last;
  for (int i = 0; i < 8; ++i) {
    std::string expert = "experts." + std::to_string(i);
    ValueId weight = g.stored("moe." + expert + ".weight", DType::kF32, {8, 8});
    ValueId x = g.op("MatMul", {g.last, weight}, g.scope({"moe", expert}));
    ValueId index = g.number(i);
    g.model.graph.initializers.back().role = TensorRole::kConstant;
    ValueId mine = g.op("Equal", {route, index}, moe);
    sum = g.op("Add", {sum, g.op("Mul", {x, mine}, moe)}, moe);
  }
  g.last = sum;
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  EXPECT_EQ(stages(tree)[0]->path, "moe.experts[0:8]");
  EXPECT_EQ(stages(tree)[0]->repeat, 8);
  EXPECT_EQ(stages(tree)[0]->items.size(), 4u);
  EXPECT_THAT(stages(tree)[0]->differences, Contains(HasSubstr("varying constant payload")));
}

TEST(ModuleTree, TheFirstExpertHasNoSumToAddTo) {
  Layers g;
  ScopeId moe = g.scope({"moe"});
  ValueId route = g.op("Softmax", {g.last}, moe), sum;
  for (int i = 0; i < 8; ++i) {
    std::string expert = "experts." + std::to_string(i);
    ValueId weight = g.stored("moe." + expert + ".weight", DType::kF32, {8, 8});
    ValueId x = g.op("MatMul", {g.last, weight}, g.scope({"moe", expert}));
    x = g.op("Mul", {x, route}, moe);
    sum = sum ? g.op("Add", {sum, x}, moe) : x;
  }
  g.last = sum;
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  const Module& stage = *stages(tree)[0];
  EXPECT_EQ(stage.path, "moe.experts[0:8]");
  EXPECT_EQ(stage.repeat, 8);
  EXPECT_EQ(stage.instances.back(), "moe.experts[7:8]");
  EXPECT_THAT(stage.differences,
              ElementsAre(HasSubstr("lacks the carried input: it does not run Add")));
  ASSERT_EQ(stage.items.size(), 3u);
  ASSERT_EQ(tree.variants.size(), 1u);
  EXPECT_FALSE(tree.variants[0].stands);
  EXPECT_EQ(tree.variants[0].node, stage.items[2].node);
  EXPECT_EQ(tree.variants[0].count, 7);
}

TEST(ModuleTree, TheFirstLayerReadsWhatTheModelAroundItHasComputed) {
  for (int layers : {2, 5}) {
    Layers g;
    ScopeId model = g.scope({"model"});
    ValueId size = g.op("Shape", {g.last}, model);
    for (int i = 0; i < layers; ++i) {
      std::string path = "layers." + std::to_string(i);
      ScopeId attention = g.scope({"model", path, "attn"});
      ValueId weight = g.stored("model." + path + ".attn.weight", DType::kF32, {8, 8});
      ValueId x = g.op("MatMul", {g.last, weight}, attention);
      ValueId mine = i == 0 ? size : g.op("Shape", {g.last}, attention);
      x = g.op("Reshape", {g.op("Relu", {g.op("Neg", {x}, attention)}, attention), mine},
               attention);
      g.last = g.op("Add", {g.last, x}, g.scope({"model", path}));
    }
    ModuleTree tree = g.tree();
    ASSERT_EQ(stages(tree).size(), 1u);
    EXPECT_EQ(stages(tree)[0]->repeat, layers);
    EXPECT_THAT(stages(tree)[0]->differences, ElementsAre(HasSubstr("lacks 1 nodes")));
    ASSERT_EQ(tree.variants.size(), 1u);
    EXPECT_EQ(tree.variants[0].count, layers - 1);
  }
}

TEST(ModuleTree, AWeightThatTheFirstLayerLacksIsNoNamedDifference) {
  Layers g;
  for (int i = 0; i < 4; ++i) {
    std::string path = "layers." + std::to_string(i);
    ScopeId self = g.scope({"model", path});
    ValueId x = g.op("Relu", {g.op("Neg", {g.op("Abs", {g.last}, self)}, self)}, self);
    ValueId extra = g.stored("model." + path + ".weight", DType::kF32, {8, 8});
    ValueId more = i == 0 ? g.last : g.op("MatMul", {g.last, extra}, self);
    g.last = g.op("Add", {more, g.op("Exp", {x}, self)}, self);
  }
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  EXPECT_EQ(stages(tree)[0]->path, "model.layers[1:4]");
}

TEST(ModuleTree, WhatAllLayersReadIsTakenOutOfTheFirst) {
  Layers g;
  ValueId positions = g.input("positions", DType::kF32, {g.batch, 8});
  ValueId mask;
  for (int i = 0; i < 3; ++i) {
    std::string path = "layers." + std::to_string(i);
    ScopeId self = g.scope({"model", path}), attention = g.scope({"model", path, "attn"});
    if (i == 0) mask = g.op("Neg", {g.op("Cos", {positions}, attention)}, attention);
    ValueId weight = g.stored("model." + path + ".attn.weight", DType::kF32, {8, 8});
    ValueId x = g.op("Mul", {g.op("MatMul", {g.last, weight}, attention), mask}, attention);
    g.last = g.op("Add", {g.last, x}, self);
  }
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  EXPECT_EQ(stages(tree)[0]->path, "model.layers[0:3]");
  EXPECT_EQ(tree.module_of_node[0], tree.module_of_node[1]);
  EXPECT_EQ(tree[tree.module_of_node[0]].path, "model");
}

TEST(ModuleTree, FindsBlocksWhereNothingHasAName) {
  Layers g;
  for (int i = 0; i < 6; ++i) g.layer("layers." + std::to_string(i));
  for (Node& node : g.model.graph.nodes) node.scope = ScopeId(0);
  for (Node& node : g.model.graph.nodes) node.name.clear();
  for (Value& value : g.model.graph.values) value.name = "v";
  for (Initializer& tensor : g.model.graph.initializers) tensor.name = "t";
  ModuleTree tree = g.tree();
  ASSERT_EQ(stages(tree).size(), 1u);
  EXPECT_EQ(stages(tree)[0]->path, "[0:24]");
  EXPECT_EQ(stages(tree)[0]->repeat, 6);
  EXPECT_EQ(stages(tree)[0]->source, ScopeSource::kStructure);
  EXPECT_EQ(stages(tree)[0]->initializers.size(), 1u);
}

TEST(ModuleTree, NodesWithoutNamesGoWhereTheirNeighboursAre) {
  Layers g;
  ValueId w = g.stored("bert.encoder.layer.0.query.weight", DType::kF32, {8, 8});
  ValueId v = g.stored("bert.encoder.layer.0.output.dense.weight", DType::kF32, {8, 8});
  ValueId x = g.op("Softmax", {g.op("MatMul", {g.last, w}, ScopeId(0))}, ScopeId(0));
  g.last = g.op("MatMul", {x, v}, ScopeId(0));
  ModuleTree tree = g.tree();
  EXPECT_EQ(tree[tree.module_of_node[0]].path, "bert.encoder.layer.0.query");
  EXPECT_EQ(tree[tree.module_of_node[1]].path, "bert.encoder.layer.0");
  EXPECT_EQ(tree[tree.module_of_node[2]].path, "bert.encoder.layer.0.output.dense");
}

TEST(ModuleTree, CheckpointWithoutAGraphIsATreeOfItsTensors) {
  GraphOf g;
  g.model.format = Format::kSafetensors;
  for (int i = 0; i < 11; ++i) {
    for (const char* part : {"mlp.weight", "attn.weight"}) {
      g.stored("model.layers." + std::to_string(i) + "." + part, DType::kF32, {8, 8});
    }
  }
  for (Initializer& tensor : g.model.graph.initializers) tensor.value = ValueId();
  ModuleTree tree = build_module_tree(g.model);
  EXPECT_THAT(check_conservation(tree, g.model.graph), IsEmpty());
  ASSERT_EQ(stages(tree).size(), 1u);
  EXPECT_EQ(stages(tree)[0]->path, "model.layers[0:11]");
}

TEST(ModuleTree, WhatCannotBePlacedIsShown) {
  Layers g;
  g.layer("layers.0");
  g.stored("blob", DType::kF32, {3});
  EXPECT_THAT(tree_text(g.tree()), HasSubstr("(unattributed)"));
}

TEST(ModuleTree, ALongChainAndADeepScopeAreNoMatter) {
  Layers chain;
  for (int i = 0; i < 20000; ++i) chain.last = chain.op("Relu", {chain.last}, ScopeId(0));
  EXPECT_EQ(stages(chain.tree())[0]->repeat, 20000);
  Layers deep;
  deep.last = deep.op("Relu", {deep.last}, deep.scope(std::vector<std::string>(500, "block")));
  EXPECT_EQ(deep.tree().modules.size(), 501u);
}

}  // namespace
}  // namespace kcharter
