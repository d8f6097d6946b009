// Command-R and its successors: parallel blocks after one norm without bias, a scaled tied head.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Decoder cohere_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = layer_norm_of(config);
  decoder.norm.bias = false;
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.logit_scale = config.number("logit_scale", 0.0625);
  for (Layer& layer : decoder.layers) {
    layer.parallel = true;
    layer.feed_forward_norm.clear();
  }
  return decoder;
}

Attention cohere_attention(const ModelConfig& config, const Norm& norm) {
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.norm = norm;
  if (config.flag("use_qk_norm", false)) attention.query_key_norm = QueryKeyNorm::kTable;
  return attention;
}

}  // namespace

void build_cohere(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = cohere_decoder(config);
  use_in_all_layers(decoder, cohere_attention(config, decoder.norm), feed_forward_of(config));
  build(builder, decoder);
}

// Three layers in four slide and rotate, the fourth sees everything without positions.
void build_cohere2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = cohere_decoder(config);
  Attention attention = cohere_attention(config, decoder.norm);
  auto windows = windows_of(config, config.integer("sliding_window_pattern", 4), 4096);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    attention.window = windows[i];
    attention.rotary = windows[i].has_value();
    decoder.layers[i].mixer = attention;
  }
  build(builder, decoder);
}

}  // namespace kcharter
