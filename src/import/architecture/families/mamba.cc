// Mamba 1 and 2, Falcon-Mamba, Jamba, Falcon-H1, Bamba: state space layers, alone or with attention.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Decoder mamba_decoder(const ModelConfig& config, const Block& mixer) {
  Decoder decoder;
  decoder.model = "backbone";
  decoder.embedding = "embeddings";
  decoder.final_norm = "norm_f";
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.norm = {.kind = NormKind::kRms, .epsilon = config.number("layer_norm_epsilon", 1e-5)};
  decoder.tied = config.flag("tie_word_embeddings", true);
  Layer layer;
  layer.mixer = mixer;
  layer.mixer_norm = "norm";
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  return decoder;
}

// "auto" or absent: a sixteenth of the hidden size.
int64_t step_rank_of(const ModelConfig& config, const char* key, int64_t hidden) {
  return config.integer(key, (hidden + 15) / 16);
}

Mamba1 mamba1_of(const ModelConfig& config) {
  Mamba1 part;
  part.hidden_size = config.require("hidden_size");
  part.inner_size = config.integer("intermediate_size", config.integer("expand", 2) * part.hidden_size);
  part.state_size = config.integer("state_size", 16);
  part.kernel = config.integer("conv_kernel", 4);
  part.step_rank = step_rank_of(config, "time_step_rank", part.hidden_size);
  part.convolution_bias = config.flag("use_conv_bias", true);
  part.projection_bias = config.flag("use_bias", false);
  return part;
}

// Falcon-H1, Bamba and Granite 4 name their sizes mamba_…
Mamba2 mamba2_beside_attention(const ModelConfig& config) {
  Mamba2 part;
  part.name = "mamba";
  part.hidden_size = config.require("hidden_size");
  int64_t inner = config.integer("mamba_d_ssm", config.integer("mamba_expand", 2) * part.hidden_size);
  part.heads = config.integer("mamba_n_heads", 128);
  part.head_dim = config.integer("mamba_d_head", part.heads > 0 ? inner / part.heads : 64);
  part.state_size = config.integer("mamba_d_state", 128);
  part.groups = config.integer("mamba_n_groups", 1);
  part.kernel = config.integer("mamba_d_conv", 4);
  part.convolution_bias = config.flag("mamba_conv_bias", true);
  part.projection_bias = config.flag("mamba_proj_bias", false);
  part.norm = rms_norm_of(config);
  return part;
}

}  // namespace

void build_mamba(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, mamba_decoder(config, mamba1_of(config)));
}

void build_mamba2(GraphBuilder& builder, const ModelConfig& config) {
  Mamba2 part;
  part.hidden_size = config.require("hidden_size");
  part.heads = config.integer("num_heads", 128);
  part.head_dim = config.integer("head_dim", 64);
  part.state_size = config.integer("state_size", 128);
  part.groups = config.integer("n_groups", 8);
  part.kernel = config.integer("conv_kernel", 4);
  part.convolution_bias = config.flag("use_conv_bias", true);
  part.projection_bias = config.flag("use_bias", false);
  build(builder, mamba_decoder(config, part));
}

// One layer in attn_layer_period attends, one in expert_layer_period has experts.
void build_jamba(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.final_norm = "final_layernorm";
  Mamba1 mamba;
  mamba.name = "mamba";
  mamba.hidden_size = decoder.hidden_size;
  mamba.inner_size = config.integer("mamba_expand", 2) * decoder.hidden_size;
  mamba.state_size = config.integer("mamba_d_state", 16);
  mamba.kernel = config.integer("mamba_d_conv", 4);
  mamba.step_rank = step_rank_of(config, "mamba_dt_rank", decoder.hidden_size);
  mamba.convolution_bias = config.flag("mamba_conv_bias", true);
  mamba.projection_bias = config.flag("mamba_proj_bias", false);
  mamba.inner_norms = true;
  mamba.norm = decoder.norm;
  Attention attention = attention_of(config);
  attention.rotary = false;
  FeedForward plain = feed_forward_of(config);
  plain.name = "feed_forward";
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "feed_forward";
  experts.router = "router";
  int64_t attention_period = config.integer("attn_layer_period", 8), attention_offset = config.integer("attn_layer_offset", 4);
  int64_t expert_period = config.integer("expert_layer_period", 2), expert_offset = config.integer("expert_layer_offset", 1);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    int64_t index = static_cast<int64_t>(i);
    Layer& layer = decoder.layers[i];
    bool attends = attention_period > 0 && index % attention_period == attention_offset;
    bool routed = expert_period > 0 && index % expert_period == expert_offset && experts.experts > 1;
    layer.mixer = attends ? Block(attention) : Block(mamba);
    layer.feed_forward = routed ? Block(experts) : Block(plain);
    layer.feed_forward_norm = "pre_ff_layernorm";
  }
  build(builder, decoder);
}

// Every layer attends and scans, and adds both.
void build_falcon_h1(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.final_norm = "final_layernorm";
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  Mamba2 mamba = mamba2_beside_attention(config);
  mamba.gated_norm = config.flag("mamba_rms_norm", false);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.name = "feed_forward";
  Block both = [attention, mamba](GraphBuilder& b, ValueId x, int64_t layer) {
    ValueId scanned = mamba(b, x, layer);
    return b.op("Add", {scanned, attention(b, x, layer)});
  };
  use_in_all_layers(decoder, both, feed_forward);
  for (Layer& layer : decoder.layers) layer.feed_forward_norm = "pre_ff_layernorm";
  build(builder, decoder);
}

// Granite 4: Mamba 2 or attention by layer_types; experts and a shared block, or the block alone.
void build_granite_hybrid(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.embedding_scale = config.number("embedding_multiplier", 1);
  decoder.logit_scale = 1 / config.number("logits_scaling", 1);
  Attention attention = attention_of(config);
  attention.rotary = config.text("position_embedding_type") == "rope";
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  FeedForward shared = feed_forward_of(config);
  shared.name = "shared_mlp";
  shared.intermediate_size = config.integer("shared_intermediate_size", 1024);
  shared.up = "input_linear";
  shared.down = "output_linear";
  shared.fused = true;
  Block feed_forward = shared;
  if (config.integer("num_experts", 0) > 0) {
    MixtureOfExperts experts = mixture_of(config);
    experts.name = "block_sparse_moe";
    experts.intermediate_size = config.require("intermediate_size");
    experts.router = "router.layer";
    experts.expert_list.clear();
    experts.up = "input_linear";
    experts.down = "output_linear";
    experts.fused = experts.stacked = true;
    experts.stacked_suffix = ".weight";
    feed_forward = [experts, shared](GraphBuilder& b, ValueId x, int64_t i) {
      return b.op("Add", {experts(b, x, i), shared(b, x, i)});
    };
  }
  std::vector<std::string> types = config.texts("layer_types");
  if (types.empty()) types = config.texts("layers_block_type");
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    Layer& layer = decoder.layers[i];
    bool scans = i < types.size() ? types[i] == "mamba" : true;
    layer.mixer = scans ? Block(mamba2_beside_attention(config)) : Block(attention);
    layer.feed_forward = feed_forward;
    layer.residual_scale = config.number("residual_multiplier", 1);
  }
  build(builder, decoder);
}

}  // namespace kcharter
