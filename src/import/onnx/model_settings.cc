#include "import/onnx/model_settings.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "import/architecture/build_model.h"
#include "import/architecture/model_config.h"
#include "import/huggingface/checkpoint_files.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

std::optional<ModelConfig> read_beside(const fs::path& model_file, std::string_view name,
                                       Diagnostics& diagnostics) {
  const fs::path path = model_file.parent_path() / name;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    return ModelConfig::parse(read_text_file(path));
  } catch (const Error& problem) {
    diagnostics.add(Severity::kWarning, "settings-not-read", name, problem.what());
    return std::nullopt;
  }
}

// A genai_config.json names several graphs of a pipeline; its lengths are those of the decoder.
void apply_genai(Model& model, const ModelConfig& config, const fs::path& model_file) {
  const ModelConfig decoder = config.section("model").section("decoder");
  const std::string file = decoder.text("filename");
  if (!file.empty() && file != model_file.filename().string()) return;
  model.context_limit = config.section("model").integer("context_length");
  if (model.architecture.empty()) model.architecture = config.section("model").text("type");
  if (!config.section("search").flag("past_present_share_buffer", false)) return;
  bool shared = false;
  for (Cache& cache : model.graph.caches) {
    if (cache.kind != CacheKind::kKeyValue || !cache.copied) continue;
    cache.copied = false;
    shared = true;
  }
  if (shared) {
    model.conventions.push_back(
        "genai_config.json lets past and present share one buffer, so that the cache is extended "
        "in "
        "place");
  }
}

// RoPE tables have a row for each position the model was made for.
std::optional<int64_t> rows_of_tables(const Graph& graph) {
  for (const Initializer& tensor : graph.initializers) {
    const bool table = tensor.role == TensorRole::kBuffer && is_float(tensor.dtype) &&
                       tensor.dims.size() == 2 && tensor.name.find("cos") != std::string::npos;
    if (table) return tensor.dims.front();
  }
  return std::nullopt;
}

}  // namespace

void apply_settings(Model& model, const fs::path& model_file) {
  if (const auto config = read_beside(model_file, "config.json", model.diagnostics)) {
    model.architecture = architecture_name(*config);
    model.context_limit = context_limit_of(*config);
  }
  if (const auto genai = read_beside(model_file, "genai_config.json", model.diagnostics)) {
    apply_genai(model, *genai, model_file);
  }
  if (!model.context_limit) model.context_limit = rows_of_tables(model.graph);
}

}  // namespace kcharter
