// Qwen3-Next and Qwen3.5: three layers of the gated delta rule, then one of gated attention; experts or
// a plain feed-forward block in each; one layer that predicts further tokens.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Attention gated_attention(const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 256);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.gated = config.flag("attn_output_gate", true);
  double share = config.section("rope_parameters").number("partial_rotary_factor", config.number("partial_rotary_factor", 0.25));
  attention.rotary_dim = static_cast<int64_t>(static_cast<double>(attention.head_dim) * share);
  return attention;
}

Block feed_forward_block(const ModelConfig& config) {
  if (config.integer("num_experts", 0) > 0) return qwen2_experts(config);
  return feed_forward_of(config);
}

}  // namespace

Decoder qwen3_next_decoder(const ModelConfig& config, bool fused) {
  Decoder decoder = decoder_of(config);
  GatedDeltaNet linear_attention = gated_delta_net_of(config);
  linear_attention.fused = fused;
  std::vector<std::string> types = config.texts("layer_types");
  int64_t interval = config.integer("full_attention_interval", 4);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    bool full = i < types.size() ? types[i] == "full_attention"
                                 : interval > 0 && (static_cast<int64_t>(i) + 1) % interval == 0;
    decoder.layers[i].mixer = full ? Block(gated_attention(config)) : Block(linear_attention);
    decoder.layers[i].feed_forward = feed_forward_block(config);
  }
  return decoder;
}

void declare_qwen_prediction_layers(GraphBuilder& builder, const ModelConfig& config, const Decoder& decoder) {
  GraphBuilder::Silence silence(builder);
  int64_t count = config.integer("mtp_num_hidden_layers", 0);
  if (count <= 0 || count > 64) return;
  auto scope = builder.scope("mtp");
  linear(builder, {}, {"fc", 2 * decoder.hidden_size, decoder.hidden_size});
  for (const char* norm : {"pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"}) {
    normalize(builder, {}, norm, decoder.hidden_size, decoder.norm);
  }
  Layer layer;
  layer.mixer = gated_attention(config);
  layer.feed_forward = feed_forward_block(config);
  for (int64_t i = 0; i < count; ++i) build_layer(builder, decoder, layer, {}, i);
}

void build_qwen3_next(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, qwen3_next_decoder(config, true));
}

}  // namespace kcharter
