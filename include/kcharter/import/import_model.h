// import_model: files → Model. Looks at what the path is (ONNX graph, checkpoint folder,
// *.safetensors, *.safetensors.index.json, config.json), and hands it to that format's importer.
// Weights are never read.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "kcharter/model/element_format.h"
#include "kcharter/model/model.h"
#include "kcharter/model/weight_formats.h"

namespace kcharter {

struct ImportOptions {
  // none: prefill; the caller looks at Model::can_decode and imports again for decode.
  std::optional<Mode> mode;
  // Free dimensions of a graph that the user binds (--dim NAME=N), by the model's own name.
  std::map<std::string, int64_t> dims;
  std::optional<ElementFormat> kv_format;          // --kv-dtype
  WeightFormats weight_formats;                    // --weight-dtype
  std::optional<DType> activation_dtype;           // --activation-dtype
};

// Throws Error: not a model, unreadable, broken beyond a document. The message says what the file is
// (LFS pointer, HTML page, archive, pickle …) and what to do. Throws UsageError for decode of a model
// that cannot.
Model import_model(const std::filesystem::path& path, const ImportOptions& options);

}  // namespace kcharter
