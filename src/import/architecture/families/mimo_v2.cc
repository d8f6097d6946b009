// MiMo-V2: windowed layers with sinks and their own head counts, values narrower than keys, experts.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Attention full_attention(const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.value_head_dim = config.integer("v_head_dim", attention.head_dim);
  attention.qkv_bias = config.flag("attention_bias", false);
  attention.sinks = config.flag("add_full_attention_sink_bias", false);
  attention.sinks_name = "attention_sink_bias";
  return attention;
}

Attention windowed_attention(const ModelConfig& config, Attention attention) {
  attention.heads = config.integer("swa_num_attention_heads", attention.heads);
  attention.kv_heads = config.integer("swa_num_key_value_heads", attention.kv_heads);
  attention.head_dim = config.integer("swa_head_dim", attention.head_dim);
  attention.value_head_dim = config.integer("swa_v_head_dim", *attention.value_head_dim);
  attention.window = config.require("sliding_window");
  attention.sinks = config.flag("add_swa_attention_sink_bias", false);
  return attention;
}

// Plain windowed layers; the configuration does not count them.
void declare_prediction_layers(GraphBuilder& builder, const ModelConfig& config, const Decoder& decoder,
                               const Attention& windowed) {
  constexpr int64_t kStored = 3;
  GraphBuilder::Silence silence(builder);
  int64_t size = decoder.hidden_size;
  for (int64_t i = 0; i < config.integer("num_nextn_predict_layers", kStored) && i < 64; ++i) {
    auto layer = builder.scope("model.mtp.layers", i);
    for (const char* norm : {"enorm", "hnorm", "input_layernorm", "pre_mlp_layernorm", "final_layernorm"}) {
      normalize(builder, {}, norm, size, decoder.norm);
    }
    linear(builder, {}, {"eh_proj", 2 * size, size});
    windowed(builder, {}, i);
    feed_forward_of(config)(builder, {}, i);
  }
}

}  // namespace

void build_mimo_v2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm.epsilon = config.number("layernorm_epsilon", decoder.norm.epsilon);
  Attention full = full_attention(config);
  Attention windowed = windowed_attention(config, full);
  MixtureOfExperts experts = mixture_of(config);
  if (config.text("topk_method", "noaux_tc") == "noaux_tc") {
    experts.correction_bias = "gate.e_score_correction_bias";
  }
  std::vector<int64_t> slides = config.integers("hybrid_layer_pattern");
  std::vector<int64_t> sparse = config.integers("moe_layer_freq");
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    bool window = i < slides.size() && slides[i] == 1;
    decoder.layers[i].mixer = window ? windowed : full;
    if (i < sparse.size() && sparse[i] != 0) decoder.layers[i].feed_forward = experts;
  }
  build(builder, decoder);
  declare_prediction_layers(builder, config, decoder, windowed);
}

}  // namespace kcharter
