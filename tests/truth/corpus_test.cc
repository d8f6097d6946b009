// Every file of the corpus through the whole pipeline: each ends in a document or in an Error, and
// how much of each origin is known is printed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kcharter/analyze/analyze.h"
#include "truth/shared_files.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__)
constexpr double kLongestSeconds = 100;  // a program that checks itself is several times slower
#else
constexpr double kLongestSeconds = 10;
#endif

struct Known {
  int64_t known = 0;
  int64_t all = 0;
  void count(bool is_known) {
    ++all;
    known += is_known ? 1 : 0;
  }
  double percent() const {
    return all == 0 ? 100 : 100.0 * static_cast<double>(known) / static_cast<double>(all);
  }
};

struct Outcome {
  int documents = 0;
  int errors = 0;
  Known shapes;  // node outputs with dtype and every dimension
  Known bytes;   // nodes whose reads and writes are known
  Known flops;   // nodes whose work is known
  double slowest = 0;
};

bool is_known(const Quantity& quantity) {
  return quantity.exactness != Exactness::kUnknown && quantity.exactness != Exactness::kLowerBound;
}

void count_document(const Document& document, Outcome& outcome) {
  const Graph& graph = document.model.graph;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId output : graph.nodes[i].outputs) {
      if (!output) continue;
      const TensorType& type = graph[output].type;
      outcome.shapes.count(type.dtype != DType::kUnknown &&
                           (type.kind != TypeKind::kTensor || fully_known(type)));
    }
    if (document.tree.template_of_node[i] != NodeId(i)) continue;
    const Metrics& metrics = document.estimate.nodes[i];
    outcome.flops.count(is_known(metrics[Metric::kFlops]) &&
                        is_known(metrics[Metric::kElementwiseFlops]));
    outcome.bytes.count(is_known(metrics[Metric::kWeightReadBytes]) &&
                        is_known(metrics[Metric::kActivationReadBytes]) &&
                        is_known(metrics[Metric::kActivationWriteBytes]));
  }
}

// Where a file comes from: the first folder, or the first two of those that hold collections.
std::string origin_of(const fs::path& file, const fs::path& corpus) {
  const fs::path below = file.lexically_relative(corpus);
  const std::string first = below.begin()->string();
  return first == "mobius" ? first + "/" + std::next(below.begin())->string() : first;
}

void chart(const fs::path& file, Outcome& outcome) {
  const std::clock_t start = std::clock();
  try {
    AnalyzeOptions options;
    options.import.mode = Mode::kPrefill;
    for (const Document& document : analyze(file, options)) count_document(document, outcome);
    ++outcome.documents;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    ++outcome.errors;
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  outcome.slowest = std::max(outcome.slowest, seconds);
  EXPECT_LT(seconds, kLongestSeconds) << file;
}

TEST(Corpus, EveryFileEndsInADocumentOrAnError) {
  const auto corpus = truth::corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  std::map<std::string, Outcome> outcomes;
  for (const auto& entry : fs::recursive_directory_iterator(*corpus)) {
    if (entry.path().extension() != ".onnx" || entry.is_directory()) continue;
    chart(entry.path(), outcomes[origin_of(entry.path(), *corpus)]);
    truth::count_case("corpus: files charted");
  }
  std::printf("  %-34s %9s %6s   %8s %8s %8s  %s\n", "origin", "documents", "errors", "shapes",
              "bytes", "flops", "slowest");
  for (const auto& [origin, outcome] : outcomes) {
    std::printf("  %-34s %9d %6d   %7.2f%% %7.2f%% %7.2f%%  %.2f s\n", origin.c_str(),
                outcome.documents, outcome.errors, outcome.shapes.percent(),
                outcome.bytes.percent(), outcome.flops.percent(), outcome.slowest);
  }
  EXPECT_FALSE(outcomes.empty());
}

}  // namespace
}  // namespace kcharter
