// What lies beside an ONNX file and says more of it: onnxruntime-genai's genai_config.json, the
// config.json of the checkpoint it was exported from, and tables in the graph itself.
#pragma once

#include <filesystem>

#include "kcharter/model/model.h"

namespace kcharter {

// Sets architecture and context_limit where they are told; a genai_config.json that lets past and
// present share one buffer makes caches that are extended in place. A file that cannot be read is a
// diagnostic.
void apply_settings(Model& model, const std::filesystem::path& model_file);

}  // namespace kcharter
