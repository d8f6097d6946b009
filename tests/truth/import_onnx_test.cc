// The ONNX importer over real files: every one ends in a Model or a clear Error, within bounded
// time; hostile files end as their list says; parameters of published models are exact, and caches
// are what the model's past inputs say.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kcharter/base/error.h"
#include "kcharter/import/import_model.h"
#include "shared_files.h"

namespace kcharter::truth {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Outcome {
  std::optional<Model> model;
  std::string error;
};

Outcome import_file(const fs::path& path, Mode mode = Mode::kPrefill) {
  ImportOptions options;
  options.mode = mode;
  try {
    return {import_model(path, options), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

Int parameters_of(const Model& model) {
  Int sum = 0;
  for (const Initializer& tensor : model.graph.initializers) {
    if (tensor.role != TensorRole::kParameter || tensor.alias_of) continue;
    Int count = 1;
    for (const int64_t dim : tensor.dims) count *= dim;
    sum += count;
  }
  return sum;
}

bool is_model_file(const fs::path& path) {
  return path.extension() == ".onnx" || path.extension() == ".textproto";
}

TEST(ImportOnnx, EveryFileOfTheCorpusEndsInAModelOrAnError) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  struct Tally {
    int models = 0;
    int errors = 0;
    double slowest = 0;
  };
  std::map<std::string, Tally> origins;
  for (const auto& entry : fs::recursive_directory_iterator(*corpus)) {
    if (!entry.is_regular_file() || !is_model_file(entry.path())) continue;
    const std::string origin = fs::relative(entry.path(), *corpus).begin()->string();
    const std::clock_t start = std::clock();  // not the wall's: other work may share the machine
    const Outcome outcome = import_file(entry.path());
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    Tally& tally = origins[origin];
    (outcome.model ? tally.models : tally.errors) += 1;
    tally.slowest = std::max(tally.slowest, seconds);
    EXPECT_LT(seconds, 10) << entry.path();
    if (!outcome.model) {
      EXPECT_GT(outcome.error.size(), 20u) << entry.path();
    }
    count_case("import " + origin);
  }
  for (const auto& [origin, tally] : origins) {
    std::printf("  %-40s %5d models, %2d errors, slowest %.2f s\n", origin.c_str(), tally.models,
                tally.errors, tally.slowest);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
  EXPECT_LT(usage.ru_maxrss, 1024 * 1024) << "kilobytes";
#else
  (void)usage;
#endif
}

// What the list of hostile files asks for in words: an error, a diagnostic by its code, or neither.
struct Expectation {
  std::string error;       // part of the message
  std::string diagnostic;  // its code
};

const std::map<std::string, Expectation>& hostile_files() {
  static const std::map<std::string, Expectation> kFiles = {
      {"empty.onnx", {"empty file", ""}},
      {"lfs_pointer.onnx", {"Git LFS pointer to a file of 12345 bytes", ""}},
      {"html_error_page.onnx", {"HTML", ""}},
      {"gzip.onnx", {"gzip", ""}},
      {"zip.onnx", {"zip", ""}},
      {"pickle.onnx", {"pickle", ""}},
      {"symlink_text.onnx", {"symbolic link", ""}},
      {"trailing_garbage.onnx", {"no protobuf", ""}},
      {"no_graph.onnx", {"no graph", ""}},
      {"cycle.onnx", {"cycle", ""}},
      {"function_recursive.onnx", {"calls itself", ""}},
      {"nested_if_2000_protobuf_depth.onnx", {"nested deeper", ""}},
      {"unknown_ir_99.onnx", {"", "newer-ir-version"}},
      {"opset_314159.onnx", {"", "newer-opset"}},
      {"no_opset_import.onnx", {"", "no-opset-import"}},
      {"dangling_input.onnx", {"", "dangling-input"}},
      {"duplicate_outputs_ssa.onnx", {"", "duplicate-value"}},
      {"duplicate_initializer.onnx", {"", "duplicate-initializer"}},
      {"negative_dim.onnx", {"", "impossible-dimension"}},
      {"unknown_dtype_999.onnx", {"", "unknown-dtype"}},
      {"unused_initializer.onnx", {"", "unused-initializer"}},
      {"unsorted.onnx", {"", "unsorted-nodes"}},
      {"initializer_dims_lie.onnx", {"", "tensor-size-differs"}},
      {"function_exponential_2e24.onnx", {"", "function-too-large"}},
      {"ext_unknown_key.onnx", {"", "external-data-unknown-key"}},
      {"ext_no_length.onnx", {"", ""}},
      {"ext_ok.onnx", {"", ""}},
  };
  return kFiles;
}

TEST(ImportOnnx, HostileFilesEndAsTheirListSays) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  std::ifstream list(*corpus / "edge" / "EXPECT.tsv");
  for (std::string line; std::getline(list, line);) {
    const std::string file = line.substr(0, line.find('\t'));
    const std::string words = line.substr(line.find('\t') + 1);
    SCOPED_TRACE(file + ": " + words);
    const Outcome outcome = import_file(*corpus / "edge" / file);
    count_case("edge");
    const auto known = hostile_files().find(file);
    if (known != hostile_files().end() && !known->second.error.empty()) {
      EXPECT_FALSE(outcome.model);
      EXPECT_THAT(outcome.error, HasSubstr(known->second.error));
      continue;
    }
    if (!words.starts_with("ok or error") && !words.starts_with("error")) {
      ASSERT_TRUE(outcome.model) << outcome.error;
    }
    if (known != hostile_files().end() && !known->second.diagnostic.empty()) {
      EXPECT_TRUE(outcome.model->diagnostics.has(known->second.diagnostic));
    }
    // External data that is not used: sizes come from the dimensions all the same.
    if (words.starts_with("summary still works")) {
      EXPECT_TRUE(outcome.model->diagnostics.has("external-data-not-found"));
      EXPECT_EQ(parameters_of(*outcome.model), 512);
      EXPECT_EQ(outcome.model->graph.initializers.at(0).stored_bytes, 2048u);
      EXPECT_EQ(outcome.model->graph.initializers.at(0).location.file, -1);
    }
  }
}

TEST(ImportOnnx, StoredSizesOfHostileFilesFollowTheDimensions) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  struct Case {
    const char* file;
    int64_t parameters;
    uint64_t bytes;
  };
  constexpr Case kCases[] = {
      {"dtype_int4_odd.onnx", 63, 32},
      {"dtype_float4e2m1_odd.onnx", 63, 32},
      {"dtype_f8e4m3fn_odd.onnx", 63, 63},
      {"dtype_bf16_odd.onnx", 63, 126},
      {"float_data_not_raw.onnx", 512, 2048},
      {"sparse_initializer.onnx", 512, 3 * 4 + 3 * 8},
      {"if_shared_outer_weights.onnx", 512 + 16 + 1024, 4 * (512 + 16 + 1024)},
      {"shared_initializer_two_consumers.onnx", 512, 2048},
  };
  for (const Case& c : kCases) {
    if (!fs::exists(*corpus / "edge" / c.file)) continue;
    const Outcome outcome = import_file(*corpus / "edge" / c.file);
    ASSERT_TRUE(outcome.model) << c.file;
    uint64_t bytes = 0;
    for (const Initializer& tensor : outcome.model->graph.initializers)
      bytes += tensor.stored_bytes;
    EXPECT_EQ(parameters_of(*outcome.model), c.parameters) << c.file;
    EXPECT_EQ(bytes, c.bytes) << c.file;
    count_case("edge sizes");
  }
}

TEST(ImportOnnx, ParametersOfPublishedModelsAreExact) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  // Two counts are of files that store a tied table twice, and say so: gpt2 and gemma2.
  const std::map<std::string, int64_t> counts = {
      {"mobius/real/llama-3.2-1b-default/model.onnx", 1'235'814'400},
      {"mobius/real/llama-3.2-1b-cuda-f16-fp8kv/model.onnx", 1'235'814'400},
      {"mobius/real/llama-3.2-1b-static/model.onnx", 1'235'814'400},
      {"mobius/real/llama-3-8b-default/model.onnx", 8'030'261'248},
      {"mobius/real/llama-3-8b-cpu/model.onnx", 8'030'261'248},
      {"mobius/real/llama-3-8b-cuda-f16/model.onnx", 8'030'261'248},
      {"mobius/real/llama-2-7b-default/model.onnx", 6'738'415'616},
      {"mobius/real/tinyllama-1.1b-default/model.onnx", 1'100'048'384},
      {"mobius/real/tinyllama-1.1b-cpu/model.onnx", 1'100'048'384},
      {"mobius/real/tinyllama-1.1b-cuda-f16/model.onnx", 1'100'048'384},
      {"mobius/real/qwen2.5-0.5b-default/model.onnx", 494'032'768},
      {"mobius/real/qwen2.5-0.5b-cpu/model.onnx", 494'032'768},
      {"mobius/real/mistral-7b-default/model.onnx", 7'241'732'096},
      {"mobius/real/mixtral-8x7b-default/model.onnx", 46'702'792'704},
      {"mobius/real/qwen3-0.6b-default/model.onnx", 596'049'920},
      {"mobius/real/qwen3-30b-a3b-default/model.onnx", 30'532'122'624},
      {"mobius/real/gpt2-124m-default/model.onnx", 124'439'808 + 38'597'376},
      {"torchvision-0.14-torch1.13-random/resnet50.onnx", 25'507'944},
  };
  for (const auto& [file, count] : counts) {
    if (!fs::exists(*corpus / file)) continue;
    const Outcome outcome = import_file(*corpus / file);
    ASSERT_TRUE(outcome.model) << outcome.error;
    EXPECT_EQ(parameters_of(*outcome.model), count) << file;
    count_case("parameters");
  }
}

// Every past input of every decoder is a cache, allocated as it is declared.
TEST(ImportOnnx, CachesOfDecodersAreTheirPastInputs) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  for (const auto& entry : fs::recursive_directory_iterator(*corpus)) {
    const std::string origin = fs::relative(entry.path(), *corpus).begin()->string();
    if (!entry.is_regular_file() || entry.path().extension() != ".onnx") continue;
    if (origin != "mobius" && !origin.starts_with("optimum") &&
        !origin.starts_with("ort-genai-builder"))
      continue;
    const Outcome outcome = import_file(entry.path(), Mode::kDecode);
    if (!outcome.model) continue;
    SCOPED_TRACE(entry.path().string());
    const Graph& graph = outcome.model->graph;
    int64_t past = 0;
    for (const ValueId input : graph.inputs) {
      const std::string& name = graph[input].name;
      if (!name.starts_with("past_") && name.find("_cache") == std::string::npos) continue;
      if (name.find("use_cache") != std::string::npos) continue;
      past += 1;
      EXPECT_EQ(graph[input].role, ValueRole::kCache) << name;
    }
    EXPECT_EQ(static_cast<int64_t>(graph.caches.size()), past);
    std::map<uint32_t, int> outputs;
    for (const Cache& cache : graph.caches) {
      ASSERT_TRUE(cache.allocated) << cache.name;
      if (cache.output) {
        EXPECT_EQ(outputs[cache.output.index]++, 0) << cache.name;
      }
      const TensorType& type = graph[cache.input].type;
      EXPECT_EQ(cache.format.name, name(type.dtype)) << cache.name;
      for (size_t axis = 0; axis < cache.allocated->size(); ++axis) {
        const bool grows = cache.kind == CacheKind::kKeyValue &&
                           cache.sequence_axis == static_cast<int32_t>(axis) &&
                           !type.shape->at(axis)->is_constant();
        const Expr expected = grows ? Expr::variable(kMaxLength) : *type.shape->at(axis);
        EXPECT_EQ((*cache.allocated)[axis], expected) << cache.name;
      }
    }
    count_case("caches");
  }
}

TEST(ImportOnnx, TheCacheOfLlamaIsAllocatedForMaxLength) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const Outcome outcome =
      import_file(*corpus / "mobius/real/llama-3.2-1b-default/model.onnx", Mode::kDecode);
  ASSERT_TRUE(outcome.model) << outcome.error;
  Expr elements;
  for (const Cache& cache : outcome.model->graph.caches) {
    ASSERT_TRUE(cache.allocated);
    Expr product = 1;
    for (const Expr& dim : *cache.allocated) product *= dim;
    elements += product;
  }
  EXPECT_EQ(elements,
            Expr::variable(kBatchSize) * Expr::variable(kMaxLength) * Expr(16 * 2 * 8 * 64));
  count_case("caches");
}

}  // namespace
}  // namespace kcharter::truth
