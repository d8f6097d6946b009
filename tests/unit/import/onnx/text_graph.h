// Graphs of the ONNX importer's tests, written in ONNX's own syntax.
#pragma once

#include <string>

#include "import/onnx/import_onnx.h"
#include "import/onnx/text_model.h"

namespace kcharter {

// `body`: "g (float[N] x) => (float[N] y) { y = Relu(x) }", functions behind it if need be.
inline Model import_text(const std::string& body, const ImportOptions& options = {}) {
  const std::string text =
      "<ir_version: 10, opset_import: [\"\" : 24, \"com.microsoft\" : 1, \"local\" : 1]> " + body;
  return import_onnx_bytes(serialize_onnx_text(text), "model.onnx", options);
}

inline ImportOptions in_mode(Mode mode) {
  ImportOptions options;
  options.mode = mode;
  return options;
}

}  // namespace kcharter
