// The weight maps of real checkpoints, from their config.json alone: every name and the total size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "import/architecture/model_config.h"
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

int64_t bytes_of_alias(const Model& model, const Initializer& alias) {
  const Initializer& original = model.graph.initializers[alias.alias_of.index];
  int64_t elements = 1;
  for (int64_t dim : original.dims) elements *= dim;
  return elements == 0 ? 0 : static_cast<int64_t>(original.stored_bytes) / elements;
}

// Sums of bytes that a map may count otherwise than the configuration says.
struct Sums {
  int64_t built = 0, tied = 0, f32_parameters = 0, f32_buffers = 0, masks = 0, keys_and_values = 0, texts = 0;
};

Sums sums_of(const Model& model) {
  Sums sums;
  for (const Initializer& initializer : model.graph.initializers) {
    const std::string& name = initializer.name;
    int64_t bytes = static_cast<int64_t>(initializer.stored_bytes), elements = 1;
    for (int64_t dim : initializer.dims) elements *= dim;
    if (initializer.alias_of) {
      sums.tied += elements * bytes_of_alias(model, initializer);
      continue;
    }
    sums.built += bytes;
    bool parameter = initializer.role == TensorRole::kParameter;
    if (initializer.dtype == DType::kF32) (parameter ? sums.f32_parameters : sums.f32_buffers) += bytes;
    if (!parameter && (initializer.dtype == DType::kBool || initializer.dtype == DType::kUInt8)) sums.masks += bytes;
    if (name.ends_with("k_proj.weight") || name.ends_with("v_proj.weight")) sums.keys_and_values += bytes;
    sums.texts += name.find("quant_state.bitsandbytes") != std::string::npos;
  }
  return sums;
}

// Why a map's size is another, with the arithmetic; what no line explains is said to be so.
std::string reason_of(const Model& model, const ModelConfig& config, const SafetensorsIndex& index) {
  if (!index.total_size) return "";
  std::set<std::string> names;
  for (const auto& [name, shard] : index.weight_map) names.insert(name);
  bool shares_a_name = std::any_of(model.graph.initializers.begin(), model.graph.initializers.end(),
                                   [&](const Initializer& initializer) { return names.contains(initializer.name); });
  if (!shares_a_name) return "no name in common: the map is of another model than the configuration";
  Sums sums = sums_of(model);
  int64_t difference = static_cast<int64_t>(*index.total_size) - sums.built;
  int64_t kv_heads = std::max<int64_t>(config.integer("num_key_value_heads", 1), 1);
  int64_t copies = config.integer("num_attention_heads", 1) / kv_heads - 1;
  const std::vector<std::pair<const char*, int64_t>> parts = {
      {"the same tensors in all: names of one storage twice", 0},
      {"stored in twice the bytes an element that the configuration says", sums.built},
      {"the tied head stored once more", sums.tied},
      {"parameters in 2 bytes that implementations keep in 4", -sums.f32_parameters / 2},
      {"masks counted as 1/8 byte an element, buffers of 4 bytes as 2", -sums.masks / 8 * 7 - sums.f32_buffers / 2},
      {"keys and values of as many heads as queries", sums.keys_and_values * copies}};
  for (const auto& [reason, bytes] : parts) {
    if (bytes == difference) return std::to_string(sums.built) + " + " + std::to_string(difference) + ": " + reason;
  }
  if (sums.texts > 0 && std::abs(difference) < 64 * sums.texts) {
    return std::to_string(sums.built) + " + " + std::to_string(difference) + ": texts of " +
           std::to_string(sums.texts) + " quantized tensors hold numbers whose digits no configuration has";
  }
  return std::to_string(sums.built) + " + " + std::to_string(difference) + ": not explained";
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
    bool both = comparison.names_equal && comparison.size_equal;
    if (model.graph_known && !both) {
      std::string reason = reason_of(model, ModelConfig::parse(read_text_file(config)), index);
      comparison.text += "    " + reason + "\n";
    }
    if (!model.graph_known) comparison.text = "    " + model.diagnostics.all()[0].message + "\n";
    equal += both;
    if (!both) std::printf("DIFFERS %s\n%s", stem.c_str(), comparison.text.c_str());
  }
  std::printf("weight maps: %d of %d equal in every name and in total size\n", equal, rows);
  EXPECT_GE(equal, 51);
}

}  // namespace
}  // namespace kcharter::truth
