// The weight maps of real checkpoints, from their config.json alone: every name and the total size.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "import/huggingface/checkpoint_files.h"
#include "import/safetensors/read_index.h"
#include "kcharter/base/error.h"
#include "import/huggingface/import_checkpoint.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

namespace fs = std::filesystem;

struct Comparison {
  std::string text;
  bool names_equal = false;
  bool size_equal = false;
};

Comparison compare(const Model& model, const SafetensorsIndex& index) {
  Comparison result;
  std::set<std::string> expected, built;
  for (const auto& [name, shard] : index.weight_map) expected.insert(name);
  uint64_t bytes = 0;
  for (const Initializer& initializer : model.graph.initializers) {
    if (initializer.alias_of) continue;
    built.insert(initializer.name);
    bytes += initializer.stored_bytes;
  }
  int lines = 0;
  for (const std::string& name : expected) {
    if (!built.contains(name) && ++lines <= 5) result.text += "    missing " + name + "\n";
  }
  for (const std::string& name : built) {
    if (!expected.contains(name) && ++lines <= 10) result.text += "    extra " + name + "\n";
  }
  result.names_equal = lines == 0;
  // A map without a size (some write 0) is compared by its names.
  result.size_equal = !index.total_size || *index.total_size == bytes;
  if (!result.size_equal) {
    result.text += "    total_size " + std::to_string(*index.total_size) + " built " + std::to_string(bytes) + "\n";
  }
  return result;
}

TEST(Architecture, WeightMapsFollowFromConfigurations) {
  auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no shared folder";
  int rows = 0, equal = 0;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(*shared / "truth" / "index")) files.insert(entry.path());
  for (const fs::path& file : files) {
    std::string stem = file.filename().string();
    for (std::string ending : {".bin.index.json", ".index.json"}) {
      if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
    }
    fs::path config = *shared / "truth" / "configs" / (stem + ".json");
    if (!fs::exists(config)) continue;
    count_case("weight maps");
    ++rows;
    SafetensorsIndex index = read_safetensors_index(read_text_file(file));
    Model model = import_checkpoint(config, {});
    Comparison comparison = compare(model, index);
    if (!model.graph_known) comparison.text = "    " + model.diagnostics.all()[0].message + "\n";
    bool both = comparison.names_equal && comparison.size_equal;
    equal += both;
    if (!both) std::printf("DIFFERS %s\n%s", stem.c_str(), comparison.text.c_str());
  }
  std::printf("weight maps: %d of %d equal in every name and in total size\n", equal, rows);
  EXPECT_GE(equal, 51);
}

}  // namespace
}  // namespace kcharter::truth
