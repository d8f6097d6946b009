// Gemma 1 to 3, text: scaled embeddings, tied head, wide heads. From 2 on norms after both blocks and
// windows on most layers; 2 has soft caps, 3 norms of queries and keys.
#include <cmath>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Attention gemma_attention(const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 256);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  return attention;
}

FeedForward gemma_feed_forward(const ModelConfig& config) {
  FeedForward feed_forward = feed_forward_of(config);
  // Gemma 1 says "gelu" where its library has always meant the approximation.
  feed_forward.activation = "gelu_pytorch_tanh";
  return feed_forward;
}

Decoder gemma_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.embedding_scale = std::sqrt(static_cast<double>(decoder.hidden_size));
  return decoder;
}

void norm_after_blocks(Decoder& decoder) {
  for (Layer& layer : decoder.layers) {
    layer.after_mixer_norm = "post_attention_layernorm";
    layer.feed_forward_norm = "pre_feedforward_layernorm";
    layer.after_feed_forward_norm = "post_feedforward_layernorm";
  }
}

}  // namespace

void build_gemma(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gemma_decoder(config);
  use_in_all_layers(decoder, gemma_attention(config), gemma_feed_forward(config));
  build(builder, decoder);
}

void build_gemma2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gemma_decoder(config);
  decoder.logit_softcap = config.number("final_logit_softcapping", 30);
  Attention attention = gemma_attention(config);
  attention.softcap = config.number("attn_logit_softcapping", 50);
  use_in_all_layers(decoder, attention, gemma_feed_forward(config), windows_of(config, 2, 4096));
  norm_after_blocks(decoder);
  build(builder, decoder);
}

Decoder gemma3_decoder(const ModelConfig& config) {
  Decoder decoder = gemma_decoder(config);
  decoder.vocab_size = config.integer("vocab_size", 262208);
  Attention attention = gemma_attention(config);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.window = config.integer("sliding_window", 4096);
  int64_t period = config.integer("sliding_window_pattern", 6);
  use_in_all_layers(decoder, attention, gemma_feed_forward(config), windows_of(config, period, 4096));
  norm_after_blocks(decoder);
  return decoder;
}

void build_gemma3_text(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, gemma3_decoder(config));
}

}  // namespace kcharter
