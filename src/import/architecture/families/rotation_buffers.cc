#include "import/architecture/families/rotation_buffers.h"

#include <charconv>

#include "import/architecture/decoder.h"

namespace kcharter {
std::optional<int> written_by(const ModelConfig& config) {
  std::string text = config.text("transformers_version");
  int minor = 0;
  if (!text.starts_with("4.") || std::from_chars(text.data() + 2, text.data() + text.size(), minor).ec != std::errc()) {
    return std::nullopt;
  }
  return minor;
}

void store_frequencies(GraphBuilder& builder, int64_t layers, int64_t head_dim) {
  for (int64_t i = 0; i < layers; ++i) {
    auto layer = builder.scope("model.layers", i);
    builder.buffer("self_attn.rotary_emb.inv_freq", {head_dim / 2}, DType::kF32);
  }
}

void store_frequencies_of_old_llama(GraphBuilder& builder, const ModelConfig& config) {
  std::optional<int> version = written_by(config);
  if (!version || *version >= 32) return;
  store_frequencies(builder, layers_of(config), attention_of(config).head_dim);
}

}  // namespace kcharter
