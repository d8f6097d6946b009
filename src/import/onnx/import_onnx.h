// import_onnx: an ONNX file, binary or text → Model for one mode.
#pragma once

#include <filesystem>

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

}  // namespace kcharter
