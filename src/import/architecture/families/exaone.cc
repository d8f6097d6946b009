// EXAONE 3: Llama under GPT-2's names.
#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"

namespace kcharter {

void build_exaone(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.model = "transformer";
  decoder.embedding = "wte";
  decoder.layer_list = "h";
  decoder.final_norm = "ln_f";
  decoder.norm.epsilon = config.number("layer_norm_epsilon", 1e-5);
  Attention attention = attention_of(config);
  attention.name = "attn.attention";
  attention.output = "out_proj";
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.gate = "c_fc_0";
  feed_forward.up = "c_fc_1";
  feed_forward.down = "c_proj";
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) {
    layer.mixer_norm = "ln_1";
    layer.feed_forward_norm = "ln_2";
  }
  build(builder, decoder);
}

}  // namespace kcharter
