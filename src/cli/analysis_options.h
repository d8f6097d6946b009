// The options that say what is analysed, shared by every command that takes models.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/analyze/analyze.h"
#include "kcharter/estimate/device.h"

namespace kcharter {

struct AnalysisOptions {
  std::string mode = "both";
  Workload workload;
  std::vector<std::string> dims;  // NAME=N
  std::string kv_dtype;
  std::string activation_dtype;
  std::string weight_dtype;
  bool kv_block_variables = false;
  std::string engine;
  std::vector<std::string> engine_options;  // KEY=VALUE
  std::string name;
  bool as_exported = false;
  std::string attention = "fused";
  std::string logits = "last";
  std::string dequantize = "fused";
};

void add_analysis_options(CLI::App& command, AnalysisOptions& options);

// Throws UsageError where a value cannot be read.
AnalyzeOptions to_analyze_options(const AnalysisOptions& options);

// The same paths; a folder of diffusers gives those of its parts. Throws Error.
std::vector<std::string> with_pipeline_parts(const std::vector<std::string>& paths);

// A name of the table or a file. Throws UsageError.
Device read_device(const std::string& name);

// The documents of one model; errors name the path.
std::vector<Document> analyze_model(const std::filesystem::path& path,
                                    const AnalyzeOptions& options);

}  // namespace kcharter
