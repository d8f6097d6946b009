// Model: all that an importer found: the graph of one mode, the files, and how the model's own
// symbols became the document's variables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/base/diagnostic.h"
#include "kcharter/model/graph.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

enum class Mode : uint8_t { kPrefill, kDecode };
std::string_view name(Mode mode);  // prefill, decode

enum class Format : uint8_t { kOnnx, kSafetensors, kConfig };
std::string_view name(Format format);  // onnx, safetensors, config

// A thing a person can turn. The first three of each document: batch_size, current_length, max_length.
struct Variable {
  std::string name;   // [A-Za-z_][A-Za-z0-9_]*
  std::string label;  // what a person or the model calls it
  int64_t value = 1;  // default
  int64_t min = 1;
};

// The variable of that name or label, or nullptr.
Variable* find_variable(std::vector<Variable>& variables, std::string_view name_or_label);

inline constexpr std::string_view kBatchSize = "batch_size";
inline constexpr std::string_view kCurrentLength = "current_length";
inline constexpr std::string_view kMaxLength = "max_length";

struct Model {
  std::string name;          // the folder's or the file's own
  Format format = Format::kOnnx;
  std::string architecture;  // "LlamaForCausalLM"; empty: not known
  Mode mode = Mode::kPrefill;
  bool can_decode = false;   // holds a cache or state that a decode step reads
  Graph graph;
  std::vector<std::string> files;  // relative to the model's folder; Tensor locations index it
  std::vector<Variable> variables; // free dimensions beyond the first three
  // The model's own symbol → formula over the document's variables, as strings are printed.
  std::map<std::string, Expr> bindings;
  std::vector<std::string> conventions;  // sentences: what was taken for granted
  std::optional<int64_t> context_limit;  // the length the model was trained or declared for
  // Parameters that take part in one token, where the importer knows it (experts of a checkpoint).
  std::optional<int64_t> active_parameters;
  // Checkpoints: the tensors are exact but the graph is not known, so work and cache are unknown.
  bool graph_known = true;
  Diagnostics diagnostics;
};

}  // namespace kcharter
