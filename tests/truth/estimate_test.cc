// What real models weigh and compute, against published counts and measured multiply-adds.
#include "kcharter/estimate/estimate.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "kcharter/analyze/analyze.h"
#include "reference/simulate_peak.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

using std::filesystem::path;

Document charted(const path& file, Mode mode, Workload workload) {
  AnalyzeOptions options;
  options.import.mode = mode;
  options.workload = workload;
  std::vector<Document> documents = analyze(file, options);
  return std::move(documents.at(0));
}

std::string formula(const Document& document, Metric metric) {
  const Quantity& quantity = document.estimate.summary[metric];
  return quantity.formula ? quantity.formula->to_string() : "?";
}

std::optional<path> corpus_file(const std::string& name) {
  auto corpus = corpus_dir();
  if (!corpus || !std::filesystem::exists(*corpus / name)) return std::nullopt;
  count_case("estimate: corpus");
  return *corpus / name;
}

TEST(EstimateTruth, LlamaWithTiedEmbedding) {
  auto file = corpus_file("mobius/real/llama-3.2-1b-default/model.onnx");
  if (!file) GTEST_SKIP() << "no corpus";
  Document document =
      charted(*file, Mode::kDecode, {.batch = 4, .current_length = 8192, .max_length = 131072});
  EXPECT_EQ(document.estimate.parameters, 1235814400);
  EXPECT_EQ(document.estimate.active_parameters, 1235814400);
  EXPECT_EQ(document.estimate.stored_elements, 1244203009);
  // 16 layers, keys and values, 8 heads of 64, f32
  EXPECT_EQ(formula(document, Metric::kKvCacheBytes), "65536*batch_size*max_length");
  EXPECT_EQ(formula(document, Metric::kKvWriteBytes), "65536*batch_size");
  EXPECT_EQ(document.estimate.summary[Metric::kFlops].exactness, Exactness::kExact);
}

TEST(EstimateTruth, ExpertsExportedDensely) {
  auto file = corpus_file("mobius/real/qwen3-30b-a3b-default/model.onnx");
  if (!file) GTEST_SKIP() << "no corpus";
  Document document = charted(*file, Mode::kDecode, {});
  EXPECT_EQ(document.estimate.parameters, 30532122624);
  EXPECT_EQ(document.estimate.active_parameters, 3353032704);
  EXPECT_TRUE(document.estimate.diagnostics.has("dense-expert-dispatch"));
  // Every expert runs: 2 per parameter but for the embedding's, whose rows are gathered; norms are
  // not products.
  Int flops = document.estimate.summary[Metric::kFlops].formula->evaluate(document.values);
  EXPECT_GT(flops, 2 * (Int(30532122624) - 151936 * 2048 - 300000));
}

TEST(EstimateTruth, DecodeOfLlama3EightBillion) {
  auto shared = shared_dir();
  if (!shared) GTEST_SKIP() << "no configurations";
  count_case("estimate: configurations");
  Document document = charted(*shared / "truth/configs/meta-llama--Meta-Llama-3-8B.json",
                              Mode::kDecode, {.current_length = 512, .max_length = 32768});
  for (size_t i = 0; i < document.tree.modules.size(); ++i) {
    if (document.tree.modules[i].path != "model.layers") continue;
    const Quantity& flops = document.estimate.modules[i][Metric::kFlops];
    EXPECT_EQ(flops.formula->evaluate(document.values), 14227079168);
  }
  const Quantity& cache = document.estimate.summary[Metric::kKvCacheBytes];
  EXPECT_EQ(cache.formula->evaluate(document.values), Int(4) << 30);
}

// The module at `path`, or the first instance of the stage that it was folded into.
ModuleId module_at(const ModuleTree& tree, const std::string& path) {
  for (size_t i = 0; i < tree.modules.size(); ++i) {
    if (tree.modules[i].path == path && !tree.modules[i].is_stage) return ModuleId(i);
  }
  return {};
}

// A path below a folded instance is found at the first instance.
ModuleId find_instance(const ModuleTree& tree, const std::string& path) {
  ModuleId found = module_at(tree, path);
  for (size_t i = 0; i < tree.modules.size() && !found; ++i) {
    const Module& stage = tree.modules[i];
    for (const std::string& instance : stage.instances) {
      if (path == instance) found = ModuleId(i);
      if (!path.starts_with(instance + ".")) continue;
      found = module_at(tree, stage.instances.front() + path.substr(instance.size()));
    }
  }
  return found;
}

int compare_modules(const Document& document, const nlohmann::json& oracle) {
  int compared = 0;
  for (const auto& [path, macs] : oracle["per_module"].items()) {
    ModuleId module = find_instance(document.tree, path);
    if (!module) continue;
    const Quantity& flops = document.estimate.modules[module.index][Metric::kFlops];
    Int multiplicity = document.tree[module].multiplicity;
    EXPECT_EQ(flops.formula->evaluate(document.values), 2 * multiplicity * macs.get<int64_t>())
        << path;
    ++compared;
  }
  return compared;
}

TEST(EstimateTruth, MultiplyAddsOfVisionModels) {
  auto corpus = corpus_dir();
  auto shared = shared_dir();
  if (!corpus || !shared) GTEST_SKIP() << "no corpus";
  nlohmann::json oracle = nlohmann::json::parse(std::ifstream(*shared / "truth/flops-oracle.json"));
  for (const char* folder : {"torchvision-0.14-torch1.13", "torchvision-0.14-torch1.13-random"}) {
    for (const auto& entry : std::filesystem::directory_iterator(*corpus / folder)) {
      std::string name = entry.path().stem();
      if (!oracle.contains(name)) continue;
      SCOPED_TRACE(folder + ("/" + name));
      count_case("estimate: multiply-adds per module");
      Document document = charted(entry.path(), Mode::kPrefill, {});
      EXPECT_EQ(compare_modules(document, oracle[name]),
                static_cast<int>(oracle[name]["per_module"].size()));
      Int macs = oracle[name]["conv_macs"].get<int64_t>() +
                 oracle[name]["linear_macs_hooked"].get<int64_t>();
      Int flops = document.estimate.summary[Metric::kFlops].formula->evaluate(document.values);
      // Of attention the measurement saw the layers only, not its products and packed projections.
      if (name.starts_with("vit"))
        EXPECT_GE(flops, 2 * macs);
      else
        EXPECT_EQ(flops, 2 * macs);
    }
  }
}

// The oracle's names of GPT-2, as the exported graph has them; its packed projection is three.
std::vector<std::string> exported_names(const std::string& oracle_name) {
  std::string name = oracle_name;
  const auto renamed = [&](std::string_view end, std::string_view by) {
    if (!name.ends_with(end)) return false;
    name.replace(name.size() - end.size(), end.size(), by);
    return true;
  };
  if (name.ends_with("attn.c_attn")) {
    name.resize(name.size() - std::string_view("c_attn").size());
    return {name + "q_proj", name + "k_proj", name + "v_proj"};
  }
  renamed("attn.c_proj", "attn.o_proj") || renamed("mlp.c_fc", "mlp.up_proj") ||
      renamed("mlp.c_proj", "mlp.down_proj");
  return {name};
}

void compare_language_model(const std::string& file, const std::string& measured) {
  auto model = corpus_file(file);
  auto shared = shared_dir();
  if (!model || !shared) GTEST_SKIP() << "no corpus";
  nlohmann::json oracle = nlohmann::json::parse(std::ifstream(*shared / "truth/flops-oracle.json"));
  Document document = charted(*model, Mode::kPrefill, {.current_length = 128});
  for (const auto& [path, macs] : oracle[measured]["per_module"].items()) {
    Int flops = 0;
    for (const std::string& name : exported_names(path)) {
      ModuleId module = find_instance(document.tree, name);
      ASSERT_TRUE(module) << path << ": " << name;
      flops += document.estimate.modules[module.index][Metric::kFlops].formula->evaluate(
                   document.values) /
               document.tree[module].multiplicity;
    }
    EXPECT_EQ(flops, 2 * macs.get<int64_t>()) << path;
    count_case("estimate: multiply-adds per module of language models");
  }
}

TEST(EstimateTruth, MultiplyAddsOfGpt2) {
  compare_language_model("mobius/real/gpt2-124m-default/model.onnx", "gpt2-124m");
}

TEST(EstimateTruth, MultiplyAddsOfTinyLlama) {
  compare_language_model("mobius/real/tinyllama-1.1b-default/model.onnx", "tinyllama-1.1b-2layers");
}

constexpr size_t kMaxSimulatedNodes = 5000;

void compare_peak(const Document& document, const std::string& name) {
  const Quantity& peak = document.estimate.summary[Metric::kActivationPeakBytes];
  if (!peak.formula || peak.exactness != Exactness::kExact) return;
  for (auto [batch, length, factor] : {std::tuple{1, 16, 1}, {3, 7, 2}, {2, 100, 5}}) {
    Bindings values = document.values;
    for (auto& [variable, value] : values) value *= factor;
    values[std::string(kBatchSize)] = batch;
    values[std::string(kCurrentLength)] = length;
    values[std::string(kMaxLength)] = length;
    ASSERT_EQ(peak.formula->evaluate(values), reference::simulate_peak(document.model, values))
        << name << ": " << peak.formula->to_string().substr(0, 500);
  }
  count_case("estimate: peaks simulated");
}

TEST(EstimateTruth, ActivationPeakEqualsTheSimulation) {
  auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*corpus)) {
    if (entry.path().extension() != ".onnx" || !entry.is_regular_file()) continue;
    try {
      Document document = charted(entry.path(), Mode::kPrefill, {});
      if (document.model.graph.nodes.size() > kMaxSimulatedNodes) continue;
      compare_peak(document, entry.path().string());
    } catch (const Error&) {
      continue;  // what is no model, and formulas that overflow, are other tests' business
    }
  }
}

}  // namespace
}  // namespace kcharter::truth
