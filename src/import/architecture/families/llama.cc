// Llama 1-3 and what calls itself so (Yi, SmolLM, TinyLlama …), Mistral.
#include "import/architecture/families/families.h"
#include "import/architecture/families/rotation_buffers.h"

namespace kcharter {

void build_llama(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.up_bias = feed_forward.down_bias = config.flag("mlp_bias", false);
  for (Layer& layer : decoder.layers) {
    layer.mixer = attention;
    layer.feed_forward = feed_forward;
  }
  build(builder, decoder);
  store_frequencies_of_old_llama(builder, config);
}

void build_mistral(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  // Configurations of the first release leave the window out; later ones say null.
  attention.window = config.integer("sliding_window");
  if (!config.mentions("sliding_window")) attention.window = 4096;
  for (Layer& layer : decoder.layers) layer.mixer = attention;
  build(builder, decoder);
}

}  // namespace kcharter
