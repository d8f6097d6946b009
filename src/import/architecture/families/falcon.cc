// Falcon 7B, 40B, 180B and the small ones: fused projections, parallel blocks.
#include "import/architecture/families/families.h"

namespace kcharter {

void build_falcon(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder;
  decoder.model = "transformer";
  decoder.embedding = "word_embeddings";
  decoder.layer_list = "h";
  decoder.final_norm = "ln_f";
  decoder.norm = layer_norm_of(config);
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.tied = config.flag("tie_word_embeddings", true);

  bool grouped = config.flag("new_decoder_architecture", false);
  bool parallel = grouped || config.flag("parallel_attn", true);
  bool two_norms = grouped && config.integer("num_ln_in_parallel_attn", 2) == 2;
  bool biased = config.flag("bias", false);
  Attention attention = attention_of(config);
  attention.name = "self_attention";
  attention.fused = "query_key_value";
  attention.output = "dense";
  attention.qkv_bias = attention.output_bias = biased;
  attention.rotary = !config.flag("alibi", false);
  if (!grouped) attention.kv_heads = config.flag("multi_query", true) ? 1 : attention.heads;
  FeedForward feed_forward;
  feed_forward.gate.clear();
  feed_forward.up = "dense_h_to_4h";
  feed_forward.down = "dense_4h_to_h";
  feed_forward.up_bias = feed_forward.down_bias = biased;
  feed_forward.hidden_size = decoder.hidden_size;
  feed_forward.intermediate_size = config.integer("intermediate_size", 4 * decoder.hidden_size);
  feed_forward.activation = config.text("hidden_act", "gelu");

  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.parallel = parallel;
  if (two_norms) {
    layer.mixer_norm = "ln_attn";
    layer.feed_forward_norm = "ln_mlp";
  } else if (parallel) {
    layer.feed_forward_norm.clear();
  }
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  build(builder, decoder);
}

}  // namespace kcharter
