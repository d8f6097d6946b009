// Published parameter counts, and a document for every configuration.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "import/huggingface/import_checkpoint.h"
#include "kcharter/base/error.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) fields.emplace_back();
    else fields.back() += c;
  }
  return fields;
}

struct Counts {
  int64_t parameters = 0;
  int64_t stored_elements = 0;  // copies of tied tensors not among them
  int64_t aliases = 0;          // elements of tied copies
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
    if (initializer.role == TensorRole::kParameter) {
      counts.parameters += initializer.logical_elements.value_or(elements);
    }
  }
  return counts;
}

bool is_exact(const std::string& text) {
  return text.size() > 6 && text.find_first_not_of("0123456789") == std::string::npos;
}

TEST(Architecture, ParametersEqualThePublishedCounts) {
  auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no shared folder";
  std::ifstream lines(*shared / "truth" / "facts.csv");
  std::string line;
  std::getline(lines, line);
  int rows = 0, equal = 0;
  std::set<std::string> seen;
  while (std::getline(lines, line)) {
    std::vector<std::string> row = csv_fields(line);
    if (row.size() < 12 || !is_exact(row[2]) || (row[10] != "high" && row[10] != "medium")) continue;
    fs::path config = *shared / "truth" / "configs" / row[1];
    if (row[1].empty() || row[1].starts_with("maxtext") || !fs::exists(config)) continue;
    count_case("facts.csv");
    ++rows;
    Model model = import_checkpoint(config, {});
    Counts counts = counts_of(model);
    int64_t published = std::stoll(row[2]);
    bool same = published == counts.parameters || published == counts.stored_elements;
    equal += same;
    if (!same && seen.insert(row[1] + row[2]).second) {
      std::printf("DIFFERS %s: published %s, parameters %ld, stored elements %ld (published - parameters "
                  "%ld, tied copies %ld)\n", row[1].c_str(), row[2].c_str(), counts.parameters,
                  counts.stored_elements, published - counts.parameters, counts.aliases);
    }
  }
  std::printf("facts.csv: %d of %d exact counts equal\n", equal, rows);
  EXPECT_GE(equal, 20);
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
  EXPECT_GE(known, 80);
}

}  // namespace
}  // namespace kcharter::truth
