// How far shapes are known over the corpus, by origin, and the one-operator files: their declared
// outputs are the truth.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kcharter/import/import_model.h"
#include "kcharter/shape/infer_shapes.h"
#include "truth/shared_files.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;
using truth::corpus_dir;
using truth::count_case;

struct Share {
  int64_t known = 0;
  int64_t all = 0;
  double percent() const {
    return all == 0 ? 100 : 100.0 * static_cast<double>(known) / static_cast<double>(all);
  }
};

bool is_known(const TensorType& type) {
  return type.dtype != DType::kUnknown && (type.kind != TypeKind::kTensor || fully_known(type));
}

std::vector<fs::path> models_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (!fs::exists(folder)) return paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// What the file declares is not used, so that only inference counts.
std::optional<Model> inferred(const fs::path& path) {
  try {
    Model model = import_model(path, {});
    for (Value& value : model.graph.values) value.declared = std::nullopt;
    return infer_shapes(std::move(model));
  } catch (const std::exception&) {
    return std::nullopt;  // what cannot be imported is the importer's matter
  }
}

Share known_share(const std::vector<fs::path>& paths, const std::string& origin) {
  Share share;
  for (const fs::path& path : paths) {
    const auto model = inferred(path);
    if (!model) continue;
    count_case("shapes of " + origin);
    for (const Node& node : model->graph.nodes) {
      for (const ValueId output : node.outputs) {
        if (!output) continue;
        ++share.all;
        share.known += is_known(model->graph[output].type) ? 1 : 0;
      }
    }
  }
  return share;
}

TEST(CorpusShapes, KnownShareByOrigin) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const std::map<std::string, double> wanted = {
      {"optimum-1.16.2-torch1.13", 99.5},   {"optimum-1.16.2-legacy", 99.5},
      {"optimum-1.16.2-realsize", 99.5},    {"mobius/real", 99.5},
      {"ort-genai-builder-0.4.0", 99.5},    {"torchvision-0.14-torch1.13-random", 99.5},
      {"torchvision-0.14-torch1.13", 99.5}, {"mobius/tiny", 98},
  };
  for (const auto& [origin, percent] : wanted) {
    const Share share = known_share(models_below(*corpus / origin), origin);
    EXPECT_GE(share.percent(), percent) << origin << ": " << share.known << " of " << share.all;
  }
}

bool is_data_dependent(const Expr& dim, const Model& model, size_t variables_at_import) {
  const auto names = dim.variables();
  for (size_t i = variables_at_import; i < model.variables.size(); ++i) {
    if (names.contains(model.variables[i].name)) return true;
  }
  return false;
}

// A dimension that depends on data may be any number; nothing else may differ.
bool agrees(const TensorType& declared, const TensorType& have, const Model& model,
            size_t variables_at_import) {
  if (declared.dtype != have.dtype || declared.kind != have.kind) return false;
  if (!declared.shape) return true;
  if (!have.shape || have.shape->size() != declared.shape->size()) return false;
  for (size_t i = 0; i < have.shape->size(); ++i) {
    const Dim& want = (*declared.shape)[i];
    const Dim& is = (*have.shape)[i];
    if (!want) continue;
    if (!is) return false;
    if (*want != *is && !is_data_dependent(*is, model, variables_at_import)) return false;
  }
  return true;
}

bool has_unknown(const TensorType& type) {
  return type.dtype == DType::kUnknown || !type.shape || !fully_known(type);
}

struct DeclaredOutcome {
  Share share;
  std::string wrong;    // known, and not what is declared
  std::string unknown;  // not known in full
};

// The outputs of one-operator files against their declarations. Many take as inputs the numbers
// that decide a shape; those shapes only the declarations tell.
DeclaredOutcome compare_with_declared(const fs::path& folder, bool use_declared) {
  DeclaredOutcome outcome;
  for (const fs::path& path : models_below(folder)) {
    Model model;
    std::vector<TensorType> declared;
    size_t variables = 0;
    try {
      model = import_model(path, {});
      variables = model.variables.size();
      for (const ValueId output : model.graph.outputs) {
        declared.push_back(model.graph[output].declared.value_or(TensorType{}));
      }
      for (Value& value : model.graph.values) {
        if (!use_declared) value.declared = std::nullopt;
      }
      model = infer_shapes(std::move(model));
    } catch (const std::exception&) {
      continue;
    }
    bool right = true;
    for (size_t i = 0; i < declared.size(); ++i) {
      const Value& output = model.graph[model.graph.outputs[i]];
      if (!output.producer || declared[i].dtype == DType::kUnknown) continue;
      if (agrees(declared[i], output.type, model, variables)) continue;
      right = false;
      (has_unknown(output.type) ? outcome.unknown : outcome.wrong) +=
          path.stem().string() + ": declared " + to_string(declared[i]) + ", inferred " +
          to_string(output.type) + "\n";
    }
    ++outcome.share.all;
    outcome.share.known += right ? 1 : 0;
  }
  return outcome;
}

TEST(CorpusShapes, OneOperatorFilesAsDeclared) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const DeclaredOutcome alone = compare_with_declared(*corpus / "onnx-node", false);
  EXPECT_EQ(alone.wrong, "");
  const DeclaredOutcome outcome = compare_with_declared(*corpus / "onnx-node", true);
  EXPECT_GE(outcome.share.percent(), 99) << outcome.unknown;
  EXPECT_EQ(outcome.wrong, "");
  for (int64_t i = 0; i < outcome.share.all; ++i) count_case("one-operator files");
  std::cout << "one-operator files with the shapes they declare: " << outcome.share.known
            << ", without looking at what they declare: " << alone.share.known << ", of "
            << outcome.share.all << "\n";
  if (std::getenv("KCHARTER_VERBOSE") != nullptr) std::cout << alone.unknown;
}

}  // namespace
}  // namespace kcharter
