// import_checkpoint: a checkpoint (folder, *.safetensors, *.safetensors.index.json, config.json
// alone) → Model. The configuration says what the model computes and which tensors there would be;
// files, where they are, say what is really stored.
#pragma once

#include <filesystem>

#include "kcharter/import/import_model.h"
#include "kcharter/model/model.h"

namespace kcharter {

// Throws Error where there is no document, UsageError for decode of a model that cannot.
Model import_checkpoint(const std::filesystem::path& path, const ImportOptions& options);

}  // namespace kcharter
