// MiMo: Qwen 2 with layers that predict further tokens.
#include "import/architecture/families/families.h"

namespace kcharter {

void build_mimo(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = config.flag("attention_bias", true);
  FeedForward feed_forward = feed_forward_of(config);
  use_in_all_layers(decoder, attention, feed_forward);
  build(builder, decoder);
  GraphBuilder::Silence silence(builder);
  int64_t size = decoder.hidden_size;
  for (int64_t i = 0; i < config.integer("num_nextn_predict_layers", 0); ++i) {
    auto layer = builder.scope("model.mtp_layers", i);
    for (const char* norm : {"input_layernorm", "post_attention_layernorm", "token_layernorm",
                             "hidden_layernorm", "final_layernorm"}) {
      normalize(builder, {}, norm, size, decoder.norm);
    }
    linear(builder, {}, {"input_proj", 2 * size, size});
    attention(builder, {}, i);
    feed_forward(builder, {}, i);
  }
}

}  // namespace kcharter
