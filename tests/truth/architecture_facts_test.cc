// Published parameter counts, and a document for every configuration.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "import/architecture/model_config.h"
#include "import/huggingface/checkpoint_files.h"
#include "accuracy/csv.h"
#include "import/huggingface/import_checkpoint.h"
#include "kcharter/base/error.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int64_t parameters = 0;
  int64_t stored_elements = 0;  // copies of tied tensors not among them
  int64_t aliases = 0;          // elements of tied copies
  int64_t scales = 0;           // of quantized matrices
  int64_t buffers = 0;
  int64_t copies = 0;           // stored once more, without parameters of their own
  int64_t projection_biases = 0;  // of queries, keys and values
};

Counts counts_of(const Model& model) {
  Counts counts;
  for (const Initializer& initializer : model.graph.initializers) {
    int64_t elements = 1;
    for (int64_t dim : initializer.dims) elements *= dim;
    if (initializer.alias_of) {
      counts.aliases += elements;
      continue;
    }
    counts.stored_elements += elements;
    int64_t logical = initializer.logical_elements.value_or(elements);
    if (initializer.role == TensorRole::kParameter) counts.parameters += logical;
    else counts.buffers += elements;
    if (initializer.part == TensorPart::kScale) counts.scales += elements;
    else if (initializer.part == TensorPart::kPlain && logical == 0) counts.copies += elements;
    if (initializer.name.ends_with(".c_attn.bias")) counts.projection_biases += elements;
  }
  return counts;
}

// Why a published count is another: parameters and one or two of what a model has besides.
std::string reason_of(int64_t published, const Counts& counts, const ModelConfig& config) {
  int64_t hidden = config.integer("hidden_size", 1), layers = config.integer("num_hidden_layers", 0);
  int64_t positions = config.integer("max_position_embeddings", 0);
  int64_t sides = config.flag("tie_word_embeddings", false) ? 1 : 2;
  std::vector<std::pair<std::string, int64_t>> parts = {
      {"the tied head counted again", counts.aliases},
      {"a head of its own", config.integer("vocab_size", 0) * hidden},
      {"scales", counts.scales},
      {"buffers", counts.buffers},
      {"copies of embedding and head", counts.copies},
      {"a causal mask in each layer", layers * positions * positions},
      {"no biases of queries, keys and values", -counts.projection_biases},
      {"nothing", 0}};
  for (const auto& [first, a] : parts) {
    for (const auto& [second, b] : parts) {
      if (a == 0 || first == second || counts.parameters + a + b != published) continue;
      std::string text = std::to_string(counts.parameters) + " + " + std::to_string(a) + " (" + first + ")";
      return b == 0 ? text : text + " + " + std::to_string(b) + " (" + second + ")";
    }
  }
  int64_t difference = published - counts.parameters, row = sides * hidden;
  if (difference % row == 0 && std::abs(difference / row) <= 4096) {
    return std::to_string(counts.parameters) + " + " + std::to_string(difference / row) + " rows of vocabulary · " +
           std::to_string(row) + ": another revision's vocabulary";
  }
  return std::to_string(counts.parameters) + " + " + std::to_string(difference) +
         ": of another revision, no part of this model has that size";
}

// Hubs count elements as stored; its note says where a row is such a count.
bool counts_stored_elements(const std::string& note) {
  return note.find("stored elements") != std::string::npos && note.find("TRAP") == std::string::npos;
}

bool is_exact(const std::string& text) {
  return text.size() > 6 && text.find_first_not_of("0123456789") == std::string::npos;
}

TEST(Architecture, ParametersEqualThePublishedCounts) {
  auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no shared folder";
  int rows = 0, equal = 0, unknown = 0;
  std::set<std::string> table;
  for (const accuracy::Row& row : accuracy::read_csv(*shared / "truth" / "facts.csv")) {
    const std::string &count = row.at("total_params"), &file = row.at("config_file");
    const std::string& confidence = row.at("confidence");
    if (!is_exact(count) || (confidence != "high" && confidence != "medium")) continue;
    fs::path config = *shared / "truth" / "configs" / file;
    if (file.empty() || file.starts_with("maxtext") || !fs::exists(config)) continue;
    count_case("facts.csv");
    ++rows;
    Model model = import_checkpoint(config, {});
    if (!model.graph_known) {
      ++unknown;
      table.insert(file + ": " + count + ", family '" + model.architecture + "' not known");
      continue;
    }
    Counts counts = counts_of(model);
    int64_t published = std::stoll(count);
    bool same = published == counts.parameters ||
                (counts_stored_elements(row.at("notes")) && published == counts.stored_elements);
    equal += same;
    if (same) continue;
    ModelConfig parsed = ModelConfig::parse(read_text_file(config));
    table.insert(file + ": " + count + " = " + reason_of(published, counts, parsed));
  }
  for (const std::string& entry : table) std::printf("NOT EQUAL %s\n", entry.c_str());
  std::printf("facts.csv: %d of %d exact counts equal, %d of families not known\n", equal, rows, unknown);
  EXPECT_GE(equal, 65);
}

TEST(Architecture, EveryConfigurationGivesAModel) {
  auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no shared folder";
  int rows = 0, known = 0;
  std::map<std::string, int> unknown;
  for (const auto& entry : fs::directory_iterator(*shared / "truth" / "configs")) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("maxtext--") || name.ends_with(".hf_quant_config.json")) continue;
    count_case("configs");
    ++rows;
    Model model = import_checkpoint(entry.path(), {});
    known += model.graph_known;
    if (!model.graph_known) ++unknown[model.architecture + ": " + model.diagnostics.all().back().message];
  }
  for (const auto& [why, times] : unknown) std::printf("UNKNOWN %d× %s\n", times, why.c_str());
  std::printf("configs: %d of %d have a known graph\n", known, rows);
  EXPECT_GE(known, 232);
}

}  // namespace
}  // namespace kcharter::truth
