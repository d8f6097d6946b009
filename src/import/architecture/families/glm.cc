// ChatGLM 2 and 3, GLM-4 dense.
#include "import/architecture/families/families.h"

namespace kcharter {

void build_chatglm(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder;
  decoder.model = "transformer";
  decoder.embedding = "embedding.word_embeddings";
  decoder.layer_list = "encoder.layers";
  decoder.final_norm = "encoder.final_layernorm";
  decoder.head = "transformer.output_layer";
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.norm = layer_norm_of(config);
  if (config.flag("rmsnorm", true)) decoder.norm.kind = NormKind::kRms;
  decoder.tied = config.flag("tie_word_embeddings", false);
  bool biased = config.flag("add_bias_linear", false);
  Attention attention = attention_of(config);
  attention.name = "self_attention";
  attention.fused = "query_key_value";
  attention.output = "dense";
  attention.qkv_bias = biased || config.flag("add_qkv_bias", false);
  attention.output_bias = biased;
  attention.rotary_dim = attention.head_dim / 2;
  if (!config.flag("multi_query_attention", false)) attention.kv_heads = attention.heads;
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.up = "dense_h_to_4h";
  feed_forward.down = "dense_4h_to_h";
  feed_forward.fused = true;
  feed_forward.up_bias = feed_forward.down_bias = biased;
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  {
    auto model = builder.scope("transformer.rotary_pos_emb");
    builder.buffer("inv_freq", {attention.head_dim / 4}, builder.options().dtype);
  }
  build(builder, decoder);
}

namespace {

Decoder glm_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = config.flag("attention_bias", false);
  attention.rotary_dim = attention.head_dim / 2;
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.up = "gate_up_proj";
  feed_forward.fused = true;
  use_in_all_layers(decoder, attention, feed_forward);
  return decoder;
}

}  // namespace

void build_glm(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, glm_decoder(config));
}

// Norms after both blocks as well.
void build_glm4(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = glm_decoder(config);
  for (Layer& layer : decoder.layers) {
    layer.after_mixer_norm = "post_self_attn_layernorm";
    layer.after_feed_forward_norm = "post_mlp_layernorm";
  }
  build(builder, decoder);
}

}  // namespace kcharter
