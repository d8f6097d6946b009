// Module trees of real files: nothing is lost on any, and what the exports of language models fold
// into is written down in trees.txt. To write it anew: KCHARTER_WRITE_TREES=FILE.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "kcharter/import/import_model.h"
#include "kcharter/shape/infer_shapes.h"
#include "kcharter/structure/module_tree.h"
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

TEST(StructureTruth, LanguageModelsFoldAsWrittenDown) {
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
    count_case("trees of language models");
  }
}

}  // namespace
}  // namespace kcharter
