// One line for each family's function; each is written in the file of its name.
#pragma once

#include "import/architecture/decoder.h"
#include "import/architecture/graph_builder.h"
#include "import/architecture/model_config.h"

namespace kcharter {

// llama.cc
void build_llama(GraphBuilder& builder, const ModelConfig& config);
void build_mistral(GraphBuilder& builder, const ModelConfig& config);
// qwen.cc
void build_qwen2(GraphBuilder& builder, const ModelConfig& config);
void build_qwen3(GraphBuilder& builder, const ModelConfig& config);
// gemma.cc
void build_gemma(GraphBuilder& builder, const ModelConfig& config);
void build_gemma2(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
