// Mixtral and what follows its names: experts w1 (gate), w3 (up), w2 (down) under block_sparse_moe.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

MixtureOfExperts mixtral_experts(const ModelConfig& config) {
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "block_sparse_moe";
  experts.intermediate_size = config.require("intermediate_size");
  experts.gate = "w1";
  experts.up = "w3";
  experts.down = "w2";
  return experts;
}

}  // namespace

void build_mixtral(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.window = config.integer("sliding_window");
  use_in_all_layers(decoder, attention, mixtral_experts(config));
  build(builder, decoder);
}

// LayerNorms and biases of attention and head.
void build_phimoe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = layer_norm_of(config);
  decoder.norm.epsilon = config.number("rms_norm_eps", 1e-5);
  decoder.head_bias = config.flag("lm_head_bias", false);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.window = config.integer("sliding_window");
  use_in_all_layers(decoder, attention, mixtral_experts(config));
  build(builder, decoder);
}

// Norms of queries and keys over all heads together, half of each head rotated.
void build_minimax_m2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.rotary_dim = config.integer("rotary_dim", attention.head_dim);
  if (config.flag("use_qk_norm", true)) attention.query_key_norm = QueryKeyNorm::kWhole;
  MixtureOfExperts experts = mixtral_experts(config);
  if (config.flag("use_routing_bias", true)) experts.correction_bias = "e_score_correction_bias";
  use_in_all_layers(decoder, attention, experts);
  build(builder, decoder);
}

// Experts of all layers stacked, gate and up together.
void build_granitemoe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.embedding_scale = config.number("embedding_multiplier", 1);
  decoder.logit_scale = 1 / config.number("logits_scaling", 1);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "block_sparse_moe";
  experts.intermediate_size = config.require("intermediate_size");
  experts.router = "router.layer";
  experts.expert_list.clear();
  experts.up = "input_linear";
  experts.down = "output_linear";
  experts.fused = experts.stacked = true;
  experts.stacked_suffix = ".weight";
  int64_t shared = config.integer("shared_intermediate_size", 0);
  if (shared > 0) {
    FeedForward part;
    part.hidden_size = decoder.hidden_size;
    part.intermediate_size = shared;
    part.name = "shared_mlp";
    part.up = "input_linear";
    part.down = "output_linear";
    part.fused = true;
    // It stands beside the experts, not among them.
    use_in_all_layers(decoder, attention, Block([experts, part](GraphBuilder& b, ValueId x, int64_t i) {
      return b.op("Add", {experts(b, x, i), part(b, x, i)});
    }));
  } else {
    use_in_all_layers(decoder, attention, experts);
  }
  for (Layer& layer : decoder.layers) layer.residual_scale = config.number("residual_multiplier", 1);
  build(builder, decoder);
}

// All experts of a layer in three tensors, each transposed as a whole.
void build_dbrx(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder;
  decoder.model = "transformer";
  decoder.embedding = "wte";
  decoder.layer_list = "blocks";
  decoder.final_norm = "norm_f";
  decoder.norm = {.kind = NormKind::kLayer, .epsilon = 1e-5, .bias = false};
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  ModelConfig attention_config = config.section("attn_config");
  ModelConfig experts_config = config.section("ffn_config");
  Attention attention = attention_of(config);
  attention.name = "attn";
  attention.fused = "Wqkv";
  attention.output = "out_proj";
  attention.kv_heads = attention_config.integer("kv_n_heads", 1);
  MixtureOfExperts experts = mixture_of(experts_config.with_defaults(config));
  experts.name = "ffn";
  experts.intermediate_size = experts_config.require("ffn_hidden_size");
  experts.activation = "silu";
  experts.router = "router.layer";
  experts.expert_list = "experts.mlp";
  experts.gate = "w1";
  experts.up = "v1";
  experts.down = "w2";
  experts.stacked = experts.stacked_flat = true;
  Block block = [attention, norm = decoder.norm, size = decoder.hidden_size](GraphBuilder& b, ValueId x, int64_t i) {
    auto scope = b.scope("norm_attn_norm");
    return attention(b, normalize(b, x, "norm_1", size, norm), i);
  };
  Layer layer;
  layer.mixer = block;
  layer.mixer_norm.clear();
  layer.feed_forward = experts;
  layer.feed_forward_norm = "norm_attn_norm.norm_2";
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  build(builder, decoder);
}

}  // namespace kcharter
