// Qwen 2 and 3, dense.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// Layers from max_window_layers on slide, where the configuration turns windows on at all.
void set_layers(Decoder& decoder, Attention attention, const ModelConfig& config) {
  bool windows = config.flag("use_sliding_window", false);
  std::optional<int64_t> window = windows ? config.integer("sliding_window") : std::nullopt;
  int64_t first = config.integer("max_window_layers", 28);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    attention.window = static_cast<int64_t>(i) >= first ? window : std::nullopt;
    decoder.layers[i].mixer = attention;
  }
}

}  // namespace

void build_qwen2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = true;
  set_layers(decoder, attention, config);
  build(builder, decoder);
}

void build_qwen3(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 128);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  set_layers(decoder, attention, config);
  build(builder, decoder);
}

}  // namespace kcharter
