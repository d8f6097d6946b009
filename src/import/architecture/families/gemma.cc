// Gemma 1 and 2: scaled embeddings, tied head; Gemma 2 adds norms after both blocks, soft caps and a
// window on every other layer.
#include <cmath>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Decoder gemma_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.embedding_scale = std::sqrt(static_cast<double>(decoder.hidden_size));
  return decoder;
}

Attention gemma_attention(const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 256);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  return attention;
}

FeedForward gemma_feed_forward(const ModelConfig& config) {
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.activation = config.text("hidden_act", "gelu_pytorch_tanh");
  return feed_forward;
}

}  // namespace

void build_gemma(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gemma_decoder(config);
  for (Layer& layer : decoder.layers) {
    layer.mixer = gemma_attention(config);
    layer.feed_forward = gemma_feed_forward(config);
  }
  build(builder, decoder);
}

void build_gemma2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gemma_decoder(config);
  decoder.logit_softcap = config.number("final_logit_softcapping", 30);
  Attention attention = gemma_attention(config);
  attention.softcap = config.number("attn_logit_softcapping", 50);
  std::vector<std::string> types = config.texts("layer_types");
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    bool windowed = i < types.size() ? types[i] == "sliding_attention" : i % 2 == 0;
    attention.window.reset();
    if (windowed) attention.window = config.integer("sliding_window", 4096);
    Layer& layer = decoder.layers[i];
    layer.mixer = attention;
    layer.feed_forward = gemma_feed_forward(config);
    layer.after_mixer_norm = "post_attention_layernorm";
    layer.feed_forward_norm = "pre_feedforward_layernorm";
    layer.after_feed_forward_norm = "post_feedforward_layernorm";
  }
  build(builder, decoder);
}

}  // namespace kcharter
