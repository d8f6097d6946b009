// LFM2: gated short convolutions and a few layers of attention.
#include <algorithm>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// The feed-forward size is two thirds of what is given, times a factor, up to a multiple.
int64_t feed_forward_size(const ModelConfig& config) {
  int64_t size = config.integer("block_ff_dim", config.integer("intermediate_size", 12288));
  if (!config.flag("block_auto_adjust_ff_dim", true)) return size;
  size = 2 * size / 3;
  double factor = config.number("block_ffn_dim_multiplier", 1);
  size = static_cast<int64_t>(factor * static_cast<double>(size));
  int64_t multiple = std::max<int64_t>(1, config.integer("block_multiple_of", 256));
  return (size + multiple - 1) / multiple * multiple;
}

// B and C gate the input and the output of the convolution.
Block short_convolution(int64_t size, int64_t kernel, bool bias) {
  return [=](GraphBuilder& b, ValueId x, int64_t layer) {
    auto scope = b.scope("conv");
    std::vector<ValueId> parts = b.split(linear(b, x, {"in_proj", size, 3 * size, bias}), {size, size, size});
    ValueId y = causal_convolution(b, b.op("Mul", {parts[0], parts[2]}), "conv", size, kernel, bias, "", layer);
    return linear(b, b.op("Mul", {parts[1], y}), {"out_proj", size, size, bias});
  };
}

}  // namespace

void build_lfm2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder;
  decoder.final_norm = "embedding_norm";
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.norm = {.kind = NormKind::kRms, .epsilon = config.number("norm_eps", 1e-5)};
  decoder.tied = config.flag("tie_word_embeddings", config.flag("tie_embedding", true));
  Attention attention = attention_of(config);
  attention.output = "out_proj";
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.query_norm = "q_layernorm";
  attention.key_norm = "k_layernorm";
  FeedForward plain;
  plain.name = "feed_forward";
  plain.gate = "w1";
  plain.up = "w3";
  plain.down = "w2";
  plain.hidden_size = decoder.hidden_size;
  plain.intermediate_size = feed_forward_size(config);
  Block convolution = short_convolution(decoder.hidden_size, config.integer("conv_L_cache", 3), config.flag("conv_bias", false));
  std::vector<int64_t> full = config.integers("full_attn_idxs");
  std::vector<std::string> types = config.texts("layer_types");
  int64_t dense = config.integer("num_dense_layers", layers_of(config));
  for (int64_t i = 0; i < layers_of(config); ++i) {
    bool attends = static_cast<size_t>(i) < types.size() ? types[static_cast<size_t>(i)] == "full_attention"
                                                         : std::find(full.begin(), full.end(), i) != full.end();
    Layer layer;
    layer.mixer = attends ? Block(attention) : convolution;
    layer.mixer_norm = "operator_norm";
    layer.feed_forward_norm = "ffn_norm";
    layer.feed_forward = plain;
    if (config.integer("num_experts", 0) > 0) {
      plain.intermediate_size = config.require("intermediate_size");
      MixtureOfExperts experts = mixture_of(config);
      experts.name = "feed_forward";
      experts.gate = "w1";
      experts.up = "w3";
      experts.down = "w2";
      if (config.flag("use_expert_bias", true)) experts.correction_bias = "expert_bias";
      layer.feed_forward = i < dense ? Block(plain) : Block(experts);
    }
    decoder.layers.push_back(std::move(layer));
  }
  build(builder, decoder);
}

}  // namespace kcharter
