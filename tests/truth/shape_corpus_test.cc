// How far shapes are known over the corpus, by origin, and the one-operator files: their declared
// outputs are the truth.

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(CorpusShapes, OneOperatorFilesAsDeclared) {
  const auto corpus = corpus_dir();
  if (!corpus) GTEST_SKIP() << "no corpus";
  Share share;
  std::string wrong;
  std::string unknown;
  for (const fs::path& path : models_below(*corpus / "onnx-node")) {
    std::optional<Model> model;
    size_t variables = 0;
    std::vector<TensorType> declared;
    try {
      model = import_model(path, {});
      variables = model->variables.size();
      for (const ValueId output : model->graph.outputs) {
        declared.push_back(model->graph[output].declared.value_or(TensorType{}));
      }
      for (Value& value : model->graph.values) value.declared = std::nullopt;
      model = infer_shapes(*std::move(model));
    } catch (const std::exception&) {
      continue;
    }
    bool right = true;
    for (size_t i = 0; i < declared.size(); ++i) {
      const ValueId output = model->graph.outputs[i];
      if (!model->graph[output].producer || declared[i].dtype == DType::kUnknown) continue;
      const TensorType& have = model->graph[output].type;
      if (agrees(declared[i], have, *model, variables)) continue;
      right = false;
      (has_unknown(have) ? unknown : wrong) += path.stem().string() + ": declared " +
                                               to_string(declared[i]) + ", inferred " +
                                               to_string(have) + "\n";
    }
    ++share.all;
    share.known += right ? 1 : 0;
    count_case("one-operator files");
  }
  std::cout << "one-operator files as declared: " << share.known << " of " << share.all << "\n";
  EXPECT_GE(share.percent(), 95) << unknown;
  EXPECT_EQ(wrong, "");
  if (std::getenv("KCHARTER_VERBOSE") != nullptr) std::cout << unknown;
}

}  // namespace
}  // namespace kcharter
