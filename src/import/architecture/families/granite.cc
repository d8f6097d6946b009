// Granite 3: Llama's shape with four multipliers.
#include "import/architecture/families/families.h"

namespace kcharter {

void build_granite(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.embedding_scale = config.number("embedding_multiplier", 1);
  decoder.logit_scale = 1 / config.number("logits_scaling", 1);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.up_bias = feed_forward.down_bias = config.flag("mlp_bias", false);
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) layer.residual_scale = config.number("residual_multiplier", 1);
  build(builder, decoder);
}

}  // namespace kcharter
