// Frequencies of rotation that some implementations store with every layer, and who wrote a checkpoint.
#pragma once

#include <optional>

#include "import/architecture/graph_builder.h"
#include "import/architecture/model_config.h"

namespace kcharter {

// The minor version of the library's 4.x that wrote the configuration; none: not said.
std::optional<int> written_by(const ModelConfig& config);
// "model.layers.<i>.self_attn.rotary_emb.inv_freq", [head_dim / 2] in f32.
void store_frequencies(GraphBuilder& builder, int64_t layers, int64_t head_dim);
// The same where the configuration was written by a transformers before 4.32, whose Llama saved them.
void store_frequencies_of_old_llama(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
