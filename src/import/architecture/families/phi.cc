// Phi 1 to 4: parallel blocks first, Llama's shape with fused projections later.
#include "import/architecture/families/families.h"

namespace kcharter {

void build_phi(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = layer_norm_of(config);
  decoder.final_norm = "final_layernorm";
  decoder.head_bias = true;
  Attention attention = attention_of(config);
  attention.output = "dense";
  attention.qkv_bias = attention.output_bias = true;
  attention.norm = decoder.norm;
  double share = config.number("partial_rotary_factor", 0.5);
  attention.rotary_dim = static_cast<int64_t>(static_cast<double>(attention.head_dim) * share);
  if (config.flag("qk_layernorm", false)) {
    attention.query_key_norm = QueryKeyNorm::kPerHead;
    attention.query_norm = "q_layernorm";
    attention.key_norm = "k_layernorm";
  }
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.gate.clear();
  feed_forward.up = "fc1";
  feed_forward.down = "fc2";
  feed_forward.up_bias = feed_forward.down_bias = true;
  feed_forward.activation = config.text("hidden_act", "gelu_new");
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) {
    layer.parallel = true;
    layer.feed_forward_norm.clear();
  }
  build(builder, decoder);
}

void build_phi3(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.fused = "qkv_proj";
  attention.window = config.integer("sliding_window");
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.up = "gate_up_proj";
  feed_forward.fused = true;
  use_in_all_layers(decoder, attention, feed_forward);
  build(builder, decoder);
}

}  // namespace kcharter
