// OLMo 1 to 3 and EXAONE 4: from OLMo 2 on norms only after the blocks and on queries and keys.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

void norm_after_blocks(Decoder& decoder) {
  for (Layer& layer : decoder.layers) {
    layer.mixer_norm.clear();
    layer.after_mixer_norm = "post_attention_layernorm";
    layer.feed_forward_norm.clear();
    layer.after_feed_forward_norm = "post_feedforward_layernorm";
  }
}

}  // namespace

void build_olmo(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = {.kind = NormKind::kLayer, .epsilon = 1e-5, .weight = false};
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  use_in_all_layers(decoder, attention, feed_forward_of(config));
  build(builder, decoder);
}

void build_olmo2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.query_key_norm = QueryKeyNorm::kWhole;
  bool third = config.text("model_type") == "olmo3" || config.has("layer_types");
  use_in_all_layers(decoder, attention, feed_forward_of(config), windows_of(config, third ? 4 : 0));
  norm_after_blocks(decoder);
  build(builder, decoder);
}

// sliding_window_pattern is "LLLG" or a period; layers that slide use rotary embedding, global ones of
// models with a window do not.
void build_exaone4(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  std::string pattern = config.text("sliding_window_pattern");
  int64_t period = pattern.empty() ? config.integer("sliding_window_pattern", 4)
                                   : static_cast<int64_t>(pattern.size());
  std::vector<std::optional<int64_t>> windows = windows_of(config, period);
  bool slides = config.integer("sliding_window").has_value();
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    attention.window = windows[i];
    attention.rotary = !slides || windows[i].has_value();
    decoder.layers[i].mixer = attention;
  }
  norm_after_blocks(decoder);
  build(builder, decoder);
}

}  // namespace kcharter
