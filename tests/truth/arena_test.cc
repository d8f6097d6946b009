// The activation peak beside what a runtime's arena held while it ran the same model: a table, and
// bounds that no case leaves (docs/activation-peak.md says what lies between).
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kcharter/analyze/analyze.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

using nlohmann::json;

int64_t dim(const json& dims, std::initializer_list<const char*> names, int64_t fallback) {
  for (const char* name : names) {
    if (dims.contains(name) && dims[name].is_number()) return dims[name].get<int64_t>();
  }
  return fallback;
}

AnalyzeOptions options_of(const json& dims) {
  AnalyzeOptions options;
  int64_t past = dim(dims, {"past_sequence_length", "past_decoder_sequence_length"}, 0);
  options.import.mode = past > 0 ? Mode::kDecode : Mode::kPrefill;
  options.workload.batch = dim(dims, {"batch_size"}, 1);
  options.workload.current_length =
      past + dim(dims, {"sequence_length", "decoder_sequence_length"}, 16);
  options.estimate.as_exported = true;  // the runtime ran without optimisations
  for (const auto& [name, value] : dims.items()) {
    bool is_length = name.find("sequence_length") != std::string::npos &&
                     name.find("encoder") == std::string::npos;
    if (name == "batch_size" || is_length || !value.is_number()) continue;
    options.import.dims[name] = value.get<int64_t>();
  }
  return options;
}

// The caller holds the inputs; of the caches the outputs are the arena's.
Int arena_share(const Document& document) {
  const Quantity& peak = document.estimate.summary[Metric::kActivationPeakBytes];
  Int bytes = peak.formula->evaluate(document.values);
  const Graph& graph = document.model.graph;
  for (const Cache& cache : graph.caches) {
    if (!cache.output || !graph[cache.output].producer) continue;
    if (auto size = byte_size(graph[cache.output].type)) bytes += size->evaluate(document.values);
  }
  for (ValueId input : graph.inputs) {
    if (graph[input].role == ValueRole::kCache) continue;
    if (auto size = byte_size(graph[input].type)) bytes -= size->evaluate(document.values);
  }
  return bytes;
}

TEST(ArenaTruth, PeakBesideTheArena) {
  auto corpus = corpus_dir();
  if (!corpus || !std::filesystem::exists(*corpus / "ort_shapes.jsonl")) GTEST_SKIP();
  std::ifstream lines(*corpus / "ort_shapes.jsonl");
  std::printf("%-44s %12s %12s %6s\n", "case", "peak", "arena", "ratio");
  for (std::string line; std::getline(lines, line);) {
    json found = json::parse(line);
    auto file = *corpus / found["model"].get<std::string>();
    if (!std::filesystem::exists(file)) continue;
    std::string name = found["case"];
    Document document = std::move(analyze(file, options_of(found["dims"])).at(0));
    double peak = static_cast<double>(arena_share(document));
    double arena = found["arena_peak_bytes"].get<double>() -
                   found["arena_before_first_node_bytes"].get<double>();
    std::printf("%-44s %12.0f %12.0f %6.2f\n", name.c_str(), peak, arena, peak / arena);
    EXPECT_GT(peak / arena, 0.3) << name;
    EXPECT_LT(peak / arena, 1.8) << name;
    count_case("estimate: peaks beside an arena");
  }
}

}  // namespace
}  // namespace kcharter::truth
