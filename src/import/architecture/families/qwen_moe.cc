// Qwen 2 and 3, OLMoE, Hunyuan and ERNIE with experts under mlp.experts.
#include <algorithm>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// Layers whose number is listed, or that the step skips, keep a plain feed-forward block.
bool is_sparse(const ModelConfig& config, int64_t layer) {
  std::vector<int64_t> dense = config.integers("mlp_only_layers");
  int64_t step = config.integer("decoder_sparse_step", 1);
  return std::find(dense.begin(), dense.end(), layer) == dense.end() && step > 0 && (layer + 1) % step == 0;
}

}  // namespace

void use_sparse_layers(Decoder& decoder, const ModelConfig& config, const Attention& attention,
                       const MixtureOfExperts& experts) {
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    Layer& layer = decoder.layers[i];
    layer.mixer = attention;
    if (is_sparse(config, static_cast<int64_t>(i))) layer.feed_forward = experts;
    else layer.feed_forward = feed_forward_of(config);
  }
}

MixtureOfExperts qwen2_experts(const ModelConfig& config) {
  MixtureOfExperts experts = mixture_of(config);
  FeedForward shared;
  shared.name = "shared_expert";
  shared.hidden_size = experts.hidden_size;
  shared.intermediate_size = config.require("shared_expert_intermediate_size");
  shared.activation = experts.activation;
  experts.shared = shared;
  experts.shared_gate = "shared_expert_gate";
  return experts;
}

void build_qwen2_moe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = config.flag("qkv_bias", true);
  use_sparse_layers(decoder, config, attention, qwen2_experts(config));
  build(builder, decoder);
}

void build_qwen3_moe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  use_sparse_layers(decoder, config, attention, mixture_of(config));
  build(builder, decoder);
}

void build_olmoe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.query_key_norm = QueryKeyNorm::kWhole;
  MixtureOfExperts experts = mixture_of(config);
  experts.intermediate_size = config.require("intermediate_size");
  use_in_all_layers(decoder, attention, experts);
  build(builder, decoder);
}

// Counts may be given for each layer; a model has one of each.
void build_hunyuan_moe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  auto first = [&](const char* key, int64_t fallback) {
    std::vector<int64_t> list = config.integers(key);
    return list.empty() ? config.integer(key, fallback) : list[0];
  };
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  if (config.flag("use_qk_norm", true)) attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.query_norm = "query_layernorm";
  attention.key_norm = "key_layernorm";
  MixtureOfExperts experts;
  experts.hidden_size = decoder.hidden_size;
  experts.intermediate_size = first("moe_intermediate_size", config.require("intermediate_size"));
  experts.experts = first("num_experts", 1);
  experts.chosen = first("moe_topk", 1);
  experts.router = "gate.wg";
  FeedForward shared = feed_forward_of(config);
  shared.name = "shared_mlp";
  shared.intermediate_size = experts.intermediate_size * first("num_shared_expert", 1);
  if (config.flag("use_mixed_mlp_moe", true)) experts.shared = shared;
  use_in_all_layers(decoder, attention, experts);
  build(builder, decoder);
}

void build_ernie_moe(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("use_bias", false);
  int64_t chosen = config.integer("moe_k", 6);
  MixtureOfExperts experts;
  experts.hidden_size = decoder.hidden_size;
  experts.intermediate_size = config.require("moe_intermediate_size");
  experts.experts = config.require("num_experts");
  experts.chosen = chosen;
  experts.correction_bias = "moe_statics.e_score_correction_bias";
  experts.correction_is_parameter = true;
  FeedForward shared = feed_forward_of(config);
  shared.name = "shared_experts";
  shared.intermediate_size = experts.intermediate_size * config.integer("moe_num_shared_experts", 0);
  if (shared.intermediate_size > 0) experts.shared = shared;
  int64_t begin = config.integer("moe_layer_start_index", 1);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    decoder.layers[i].mixer = attention;
    if (static_cast<int64_t>(i) >= begin) decoder.layers[i].feed_forward = experts;
  }
  build(builder, decoder);
}

}  // namespace kcharter
