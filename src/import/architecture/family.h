// Family: a known architecture, found by the class that a configuration names, or by its model_type
// where it names none. A new family is one file in families/ and its lines in the table of
// family.cc. What no line names is never taken for another family.
#pragma once

#include <string_view>

#include "import/architecture/graph_builder.h"
#include "import/architecture/model_config.h"

namespace kcharter {

struct Family {
  std::string_view architecture;  // "LlamaForCausalLM"
  std::string_view model_type;    // "llama"
  // Writes the whole graph. Throws Error where the configuration lacks a fact that it needs.
  void (*build)(GraphBuilder& builder, const ModelConfig& config);
};

// nullptr: not known.
const Family* find_family(const ModelConfig& config);
// For programs and tests that bring a family of their own; wins over the table.
void register_family(const Family& family);

}  // namespace kcharter
