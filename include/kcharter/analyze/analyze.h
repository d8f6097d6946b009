// analyze: the pipeline as one function.
//
//   for (const Document& document : analyze("llama/model.onnx", {.workload = {.batch = 4}})) …
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/estimate/engine.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/import/import_model.h"
#include "kcharter/report/document.h"

namespace kcharter {

struct Workload {
  int64_t batch = 1;
  int64_t current_length = 1024;
  std::optional<int64_t> max_length = std::nullopt;  // default: current_length; less is a UsageError
  // Sizes of groups of devices (kcharter/estimate/parallel.h).
  int64_t tensor_parallel = 1;
  int64_t pipeline_parallel = 1;
  int64_t expert_parallel = 1;
  int64_t data_parallel = 1;
  // Tokens that one step of a prefill takes; none: all at once.
  std::optional<int64_t> prefill_chunk = std::nullopt;
};

struct AnalyzeOptions {
  ImportOptions import;            // import.mode: none means both where the model can decode
  Workload workload;
  std::optional<EngineRequest> engine;  // none: caches take what their data needs
  // Bytes of caches as formulas over kv_block_elements and kv_block_bytes, for a page that turns them;
  // else the format's own numbers stand there.
  bool kv_block_variables = false;
  EstimateOptions estimate;
  bool all_logits = false;         // a checkpoint's prefill computes those of every token
  std::string name;                // empty: the model's own
};

// One document per mode, prefill first. Throws Error and UsageError.
std::vector<Document> analyze(const std::filesystem::path& path, const AnalyzeOptions& options);

}  // namespace kcharter
