// Persimmon, and Fuyu, which feeds it patches of an image through one linear layer.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Decoder persimmon_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = layer_norm_of(config);
  decoder.final_norm = "final_layernorm";
  Attention attention = attention_of(config);
  attention.fused = "query_key_value";
  attention.output = "dense";
  attention.qkv_bias = attention.output_bias = true;
  attention.rotary_dim = static_cast<int64_t>(static_cast<double>(attention.head_dim) * config.number("partial_rotary_factor", 0.5));
  attention.norm = decoder.norm;
  if (config.flag("qk_layernorm", true)) attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.query_norm = "q_layernorm";
  attention.key_norm = "k_layernorm";
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.gate.clear();
  feed_forward.up = "dense_h_to_4h";
  feed_forward.down = "dense_4h_to_h";
  feed_forward.up_bias = feed_forward.down_bias = true;
  feed_forward.activation = config.text("hidden_act", "relu2");
  use_in_all_layers(decoder, attention, feed_forward);
  return decoder;
}

}  // namespace

void build_persimmon(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, persimmon_decoder(config));
}

void build_fuyu(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = persimmon_decoder(config);
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
  int64_t patch = config.integer("patch_size", 30), elements = patch * patch * config.integer("num_channels", 3);
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    ValueId pixels;
    if (!b.silent()) {
      Expr patches = b.variable("image_patches", "Patches of the image", 100, 0);
      pixels = b.input("image_patches_values", b.activation_dtype(), {b.batch(), patches, Expr(elements)});
    }
    return linear(b, pixels, {"vision_embed_tokens", elements, decoder.hidden_size, true});
  });
  build(builder, decoder);
}

}  // namespace kcharter
