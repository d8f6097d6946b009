// import_onnx: an ONNX file, binary or text → Model for one mode.
#pragma once

#include <filesystem>
#include <string_view>

#include "kcharter/import/import_model.h"
#include "kcharter/model/model.h"

namespace kcharter {

enum class OnnxEncoding : uint8_t {
  kBinary,     // .onnx
  kText,       // ONNX's own syntax: <ir_version: 10, …> graph (…) => (…) { … }
  kProtoText,  // protobuf's text format
};

// Throws Error naming the part of the file that is broken, UsageError for decode of a model that
// keeps nothing from step to step.
Model import_onnx(const std::filesystem::path& path, OnnxEncoding encoding,
                  const ImportOptions& options);

// The same for a serialized ModelProto in memory that is not in a file, so that its weights have no
// place; `path` gives the model its name and external data their folder.
Model import_onnx_bytes(std::string_view bytes, const std::filesystem::path& path,
                        const ImportOptions& options);

}  // namespace kcharter
