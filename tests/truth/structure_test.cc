// Module trees of real files: nothing is lost on any, every node is in the instance that its name
// says, and what exports of each origin fold into is written down in trees.txt. To write it anew:
// KCHARTER_WRITE_TREES=FILE.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "kcharter/import/import_model.h"
#include "kcharter/shape/infer_shapes.h"
#include "kcharter/structure/module_tree.h"
#include "structure/path_table.h"
#include "truth/shared_files.h"
#include "unit/support/check_conservation.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;
using truth::corpus_dir;
using truth::count_case;

std::optional<Model> inferred(const fs::path& path) {
  try {
    return infer_shapes(import_model(path, {}));
  } catch (const std::exception&) {
    return std::nullopt;  // what cannot be read is the importer's matter
  }
}

std::vector<fs::path> models_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(StructureTruth, NoTreeLosesAnything) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  for (const fs::path& path : models_below(*corpus)) {
    const auto model = inferred(path);
    if (!model) continue;
    const ModuleTree tree = build_module_tree(*model);
    EXPECT_THAT(check_conservation(tree, model->graph), testing::IsEmpty()) << path;
    count_case("module trees");
  }
}

// The innermost stage around a module that is in one stage only.
const Module* only_stage_around(const ModuleTree& tree, ModuleId id) {
  const Module* stage = nullptr;
  for (; id; id = tree[id].parent) {
    if (!tree[id].is_stage) continue;
    if (stage) return nullptr;
    stage = &tree[id];
  }
  return stage;
}

// Where the node stands that a template is in each instance, in words of the source.
std::string scope_text(PathTable& paths, const Graph& graph, NodeId node) {
  const ScopeId scope = graph[node].scope;
  if (!scope || graph[scope].source == ScopeSource::kNone) return "";
  return paths.text(resolve(paths, graph[scope].segments, true).path);
}

TEST(StructureTruth, SteppingThroughInstancesReachesEveryNode) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  for (const fs::path& path : models_below(*corpus)) {
    const auto model = inferred(path);
    if (!model) continue;
    const Graph& graph = model->graph;
    const ModuleTree tree = build_module_tree(*model);
    std::map<NodeId, std::vector<NodeId>> instances;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      instances[tree.template_of_node[n]].push_back(NodeId(n));
    }
    size_t reached = 0;
    PathTable paths;
    for (const Module& module : tree.modules) {
      for (const ModuleItem& item : module.items) {
        if (!item.node) continue;
        const std::vector<NodeId>& stands_for = instances[item.node];
        reached += stands_for.size();
        const Module* stage = only_stage_around(tree, tree.module_of_node[item.node.index]);
        if (!stage || stage->instances.size() != stands_for.size()) continue;
        if (stage->instances[0].find_first_of("[~") != std::string::npos) continue;
        // Nodes that their names place: each is in an instance of its own. Execution order is that
        // of the instances, but for nodes fed by constants alone, which may run in any order.
        if (!scope_text(paths, graph, item.node).starts_with(stage->instances[0] + ".")) continue;
        std::set<std::string> found;
        for (size_t i = 0; i < stands_for.size(); ++i) {
          const std::string scope = scope_text(paths, graph, stands_for[i]);
          if (scope.empty()) continue;
          const auto instance =
              std::find_if(stage->instances.begin(), stage->instances.end(),
                           [&](const std::string& name) { return scope.starts_with(name + "."); });
          ASSERT_NE(instance, stage->instances.end()) << path << ": " << scope;
          EXPECT_TRUE(found.insert(*instance).second) << path << ": " << *instance << " twice";
          count_case(*instance == stage->instances[i] ? "nodes in the instance that their names say"
                                                      : "nodes that run in another order");
        }
      }
    }
    EXPECT_EQ(reached, graph.nodes.size()) << path;
    count_case("models stepped through");
  }
}

// Stages, what stands beside and around them, and two levels at least.
std::string skeleton(const ModuleTree& tree) {
  std::vector<bool> leads_to_stage(tree.modules.size()), holds_stage(tree.modules.size());
  std::vector<size_t> depth(tree.modules.size());
  for (size_t m = tree.modules.size(); m-- > 1;) {
    const Module& module = tree.modules[m];
    if (module.is_stage) leads_to_stage[m] = holds_stage[module.parent.index] = true;
    if (leads_to_stage[m]) leads_to_stage[module.parent.index] = true;
  }
  std::string text;
  std::vector<ModuleId> waiting = {ModuleId(0)};
  while (!waiting.empty()) {
    const ModuleId id = waiting.back();
    waiting.pop_back();
    const Module& module = tree[id];
    if (module.parent) depth[id.index] = depth[module.parent.index] + 1;
    if (id.index > 0 &&
        (depth[id.index] <= 2 || leads_to_stage[id.index] || holds_stage[module.parent.index])) {
      text.append(depth[id.index] * 2, ' ');
      text += module.name;
      if (module.is_stage) text += " × " + std::to_string(module.repeat) + "  " + module.path;
      if (!module.kind.empty()) text += "  (" + module.kind + ")";
      text += '\n';
    }
    for (size_t i = module.items.size(); i-- > 0;) {
      if (module.items[i].module) waiting.push_back(module.items[i].module);
    }
  }
  return text;
}

std::map<std::string, std::string> read_trees(const fs::path& path) {
  std::map<std::string, std::string> trees;
  std::ifstream file(path);
  std::string line, name;
  while (std::getline(file, line)) {
    if (line.starts_with("== "))
      name = line.substr(3);
    else
      trees[name] += line + "\n";
  }
  return trees;
}

TEST(StructureTruth, ModelsFoldAsWrittenDown) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const std::map<std::string, std::string> expected =
      read_trees(fs::path(__FILE__).parent_path() / "trees.txt");
  ASSERT_FALSE(expected.empty());
  std::ofstream anew;
  if (const char* file = std::getenv("KCHARTER_WRITE_TREES")) anew.open(file);
  for (const auto& [name, text] : expected) {
    if (!fs::exists(*corpus / name)) continue;
    const auto model = inferred(*corpus / name);
    ASSERT_TRUE(model) << name;
    const std::string tree = skeleton(build_module_tree(*model));
    if (anew) anew << "== " << name << "\n" << tree;
    EXPECT_EQ(tree, text) << name;
    count_case("trees");
  }
}

}  // namespace
}  // namespace kcharter
