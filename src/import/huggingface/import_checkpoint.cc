#include "import/huggingface/import_checkpoint.h"

#include <algorithm>
#include <map>

#include "import/architecture/build_model.h"
#include "import/huggingface/apply_what_if.h"
#include "import/huggingface/checkpoint_files.h"
#include "import/huggingface/merge_tensors.h"
#include "import/safetensors/read_index.h"
#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"

namespace kcharter {
namespace {

struct FoundFiles {
  std::vector<std::string> files;
  std::vector<FoundTensor> tensors;
  Diagnostics diagnostics;
};

void read_shard(FoundFiles& result, const Shard& shard) {
  int32_t file = static_cast<int32_t>(result.files.size());
  result.files.push_back(shard.name);
  if (!shard.present) {
    std::string what = shard.pointer_size
                           ? "is a Git LFS pointer to " + std::to_string(*shard.pointer_size) + " bytes"
                           : "is not there";
    result.diagnostics.add(Severity::kWarning, "missing-shard", shard.name,
                           "a shard " + what + ": its tensors are as the configuration gives them");
    return;
  }
  SafetensorsHeader header;
  try {
    header = read_safetensors_header(MappedFile(shard.path).bytes());
  } catch (Error& error) {
    throw error.in(shard.path.string());
  }
  for (Diagnostic diagnostic : header.diagnostics.all()) {
    std::string subject = shard.name + (diagnostic.subject.empty() ? "" : ": " + diagnostic.subject);
    result.diagnostics.add(diagnostic.severity, diagnostic.code, subject, diagnostic.message);
  }
  for (SafetensorsTensor& tensor : header.tensors) result.tensors.push_back({std::move(tensor), file, true});
}

// Names that the index puts into shards that are not there.
void add_missing(FoundFiles& result, const CheckpointFiles& files) {
  if (!files.index) return;
  std::map<std::string, int32_t> missing;
  for (size_t i = 0; i < files.shards.size(); ++i) {
    if (!files.shards[i].present) missing[files.shards[i].name] = static_cast<int32_t>(i);
  }
  if (missing.empty()) return;
  SafetensorsIndex index = read_safetensors_index(read_text_file(*files.index));
  for (const auto& [tensor, shard] : index.weight_map) {
    auto found = missing.find(shard);
    if (found == missing.end()) continue;
    FoundTensor absent;
    absent.tensor.name = tensor;
    absent.file = found->second;
    absent.present = false;
    result.tensors.push_back(std::move(absent));
  }
}

// The type that most bytes are stored in.
std::optional<DType> main_dtype(const std::vector<FoundTensor>& tensors) {
  std::map<DType, uint64_t> bytes;
  for (const FoundTensor& found : tensors) {
    if (is_float(found.tensor.dtype)) bytes[found.tensor.dtype] += found.tensor.length;
  }
  std::optional<DType> best;
  for (const auto& [dtype, length] : bytes) {
    if (!best || length > bytes[*best]) best = dtype;
  }
  return best;
}

std::string dtype_text(const ModelConfig& config) {
  for (const char* nested : {"text_config", "llm_config", "language_config", "thinker_config"}) {
    std::string text = config.section(nested).text("dtype");
    if (!text.empty() && config.text("dtype").empty()) return text;
  }
  return config.text("dtype");
}

BuildOptions build_options(const ModelConfig& config, const ImportOptions& options,
                           const FoundFiles& found, Diagnostics& diagnostics) {
  BuildOptions build;
  build.mode = options.mode.value_or(Mode::kPrefill);
  build.kv_format = options.kv_format;
  build.activation_dtype = options.activation_dtype;
  std::optional<DType> declared = parse_dtype(dtype_text(config));
  std::optional<DType> stored = main_dtype(found.tensors);
  if (!declared && !stored) {
    diagnostics.add(Severity::kWarning, "assumed-dtype", "config.json",
                    "no dtype is given: 16-bit weights (bf16) are assumed");
  }
  build.dtype = declared ? *declared : stored.value_or(DType::kBF16);
  return build;
}

Quantization quantization_of(const ModelConfig& config, const CheckpointFiles& files, Diagnostics& diagnostics) {
  try {
    ModelConfig side;
    if (files.quantization) side = ModelConfig::parse(read_text_file(*files.quantization));
    return read_quantization(config, side);
  } catch (const Error& error) {
    diagnostics.add(Severity::kWarning, "unknown-quantization", "config.json",
                    std::string(error.what()) + ": matrices are taken as not quantized");
    return {};
  }
}

ModelConfig read_config(const CheckpointFiles& files) {
  if (!files.config) return ModelConfig();
  try {
    return ModelConfig::parse(read_text_file(*files.config));
  } catch (Error& error) {
    throw error.in(files.config->string());
  }
}

// --dim NAME=N: a free dimension of the document, by its name.
void bind_dimensions(const std::map<std::string, int64_t>& dims, Model& model) {
  for (const auto& [name, size] : dims) {
    Variable* variable = find_variable(model.variables, name);
    if (variable == nullptr) {
      std::string known;
      for (const Variable& v : model.variables) known += (known.empty() ? "; it has " : ", ") + v.name;
      throw UsageError("--dim " + name + "=" + std::to_string(size) + ": no dimension has that name" + known);
    }
    if (size < variable->min) {
      throw UsageError("--dim " + name + "=" + std::to_string(size) + " is less than " + std::to_string(variable->min));
    }
    variable->value = size;
  }
}

}  // namespace

Model import_checkpoint(const std::filesystem::path& path, const ImportOptions& options) {
  CheckpointFiles files = find_checkpoint_files(path);
  ModelConfig config = read_config(files);
  FoundFiles found;
  for (const Shard& shard : files.shards) read_shard(found, shard);
  add_missing(found, files);

  Diagnostics diagnostics;
  BuildOptions build = build_options(config, options, found, diagnostics);
  build.quantization = quantization_of(config, files, diagnostics);
  Model model = build_model(config, build);
  if (options.mode == Mode::kDecode && model.graph_known && !model.can_decode) {
    throw UsageError(path.string() + ": " + model.architecture + " keeps no cache or state, so it cannot decode");
  }
  bind_dimensions(options.dims, model);
  if (!found.tensors.empty()) merge_tensors(model, found.tensors);
  apply_what_if(model, options);
  model.name = files.name;
  model.format = files.shards.empty() ? Format::kConfig : Format::kSafetensors;
  model.files = std::move(found.files);
  diagnostics.add(found.diagnostics);
  diagnostics.add(model.diagnostics);
  model.diagnostics = std::move(diagnostics);
  return model;
}

}  // namespace kcharter
