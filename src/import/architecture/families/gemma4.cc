// Gemma 4, text: windowed layers with narrow heads, full ones with wide heads and keys that serve as
// values; experts beside a plain block; later layers that use the keys of earlier ones; embeddings of
// each layer.
#include <cmath>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

constexpr const char* kActivation = "gelu_pytorch_tanh";

Attention attention_at(const ModelConfig& config, bool full) {
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 256);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.value_norm = true;
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  if (!full) {
    attention.window = config.integer("sliding_window", 512);
    return attention;
  }
  attention.head_dim = config.integer("global_head_dim", attention.head_dim);
  attention.value_is_key = config.flag("attention_k_eq_v", false);
  if (attention.value_is_key) {
    attention.kv_heads = config.integer("num_global_key_value_heads", attention.kv_heads);
  }
  double share = config.section("rope_parameters").section("full_attention").number("partial_rotary_factor", 1);
  attention.rotary_dim = static_cast<int64_t>(static_cast<double>(attention.head_dim) * share);
  return attention;
}

// Both a plain block and routed experts, each with norms of its own; the router reads the layer's
// hidden state itself.
Block experts_beside(const ModelConfig& config, const FeedForward& plain, const Norm& norm) {
  MixtureOfExperts experts = mixture_of(config);
  experts.name.clear();
  experts.intermediate_size = config.require("moe_intermediate_size");
  experts.activation = kActivation;
  experts.router = "router.proj";
  experts.up = "gate_up_proj";
  experts.fused = experts.stacked = true;
  int64_t size = plain.hidden_size;
  return [=](GraphBuilder& b, ValueId x, int64_t layer) {
    ValueId first = plain(b, normalize(b, x, "pre_feedforward_layernorm", size, norm), layer);
    first = normalize(b, first, "post_feedforward_layernorm_1", size, norm);
    ValueId scaled = b.ours("RMSNormalization", {x}, {attribute("axis", int64_t{-1})});
    {
      auto router = b.scope("router");
      scaled = b.op("Mul", {scaled, b.parameter("scale", {size})});
    }
    ValueId second = normalize(b, x, "pre_feedforward_layernorm_2", size, norm);
    second = experts.run(b, scaled, second);
    {
      auto router = b.scope("router");
      GraphBuilder::Silence unread(b);  // folded into the routing weights
      b.parameter("per_expert_scale", {experts.experts});
    }
    return b.op("Add", {first, normalize(b, second, "post_feedforward_layernorm_2", size, norm)});
  };
}

struct PerLayer {
  int64_t size = 0;       // of one layer's embedding; 0: none
  int64_t vocab = 0;
  ValueId inputs;         // [B, S, layers · size], once built
};

Block finish_of(int64_t hidden, const Norm& norm, const std::shared_ptr<PerLayer>& per_layer, int64_t layers) {
  return [=](GraphBuilder& b, ValueId x, int64_t layer) {
    if (per_layer->size > 0) {
      ValueId gate = linear(b, x, {"per_layer_input_gate", hidden, per_layer->size});
      ValueId own = b.ours("SliceLayer", {per_layer->inputs},
                           {attribute("index", layer), attribute("size", per_layer->size), attribute("count", layers)});
      ValueId y = b.op("Mul", {activate(b, gate, kActivation), own});
      y = linear(b, y, {"per_layer_projection", per_layer->size, hidden});
      x = b.op("Add", {x, normalize(b, y, "post_per_layer_input_norm", hidden, norm)});
    }
    return b.op("Mul", {x, b.buffer_value("layer_scalar", {1})});
  };
}

// Embeddings of the token for every layer, and a projection of the usual embedding, summed.
void build_per_layer_inputs(GraphBuilder& b, const Decoder& decoder, ValueId ids, ValueId hidden,
                            PerLayer& per_layer) {
  int64_t layers = static_cast<int64_t>(decoder.layers.size()), width = layers * per_layer.size;
  ValueId rows = embed(b, "embed_tokens_per_layer", per_layer.vocab, width, ids).rows;
  ValueId projected = linear(b, hidden, {"per_layer_model_projection", decoder.hidden_size, width});
  projected = normalize_groups(b, projected, "per_layer_projection_norm", layers, per_layer.size, decoder.norm);
  per_layer.inputs = scale(b, b.op("Add", {rows, projected}), std::sqrt(0.5));
}

}  // namespace

Decoder gemma4_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.embedding_scale = std::sqrt(static_cast<double>(decoder.hidden_size));
  decoder.logit_softcap = config.number("final_logit_softcapping", 0);
  auto per_layer = std::make_shared<PerLayer>();
  per_layer->size = config.integer("hidden_size_per_layer_input", 0);
  per_layer->vocab = config.integer("vocab_size_per_layer_input", decoder.vocab_size);
  if (per_layer->size > 0) {
    decoder.before_layers = [per_layer](GraphBuilder& b, const Decoder& d, ValueId ids, ValueId hidden) {
      build_per_layer_inputs(b, d, ids, hidden, *per_layer);
      return hidden;
    };
  }
  int64_t layers = static_cast<int64_t>(decoder.layers.size());
  int64_t first_shared = layers - config.integer("num_kv_shared_layers", 0);
  std::vector<std::optional<int64_t>> windows = windows_of(config, config.integer("sliding_window_pattern", 6), 512);
  int64_t last_of[2] = {-1, -1};  // the last layer of each kind that keeps keys
  for (int64_t i = 0; i < layers; ++i) {
    Layer& layer = decoder.layers[static_cast<size_t>(i)];
    bool full = !windows[static_cast<size_t>(i)].has_value();
    Attention attention = attention_at(config, full);
    FeedForward plain = feed_forward_of(config);
    plain.activation = kActivation;
    if (i < first_shared) {
      last_of[full] = i;
    } else if (last_of[full] >= 0) {
      attention.shared_with = last_of[full];
      if (config.flag("use_double_wide_mlp", false)) plain.intermediate_size *= 2;
    }
    layer.mixer = attention;
    layer.after_mixer_norm = "post_attention_layernorm";
    layer.after_feed_forward_norm = "post_feedforward_layernorm";
    layer.feed_forward_norm = "pre_feedforward_layernorm";
    layer.feed_forward = plain;
    if (config.flag("enable_moe_block", false)) {
      layer.feed_forward_norm.clear();
      layer.feed_forward = experts_beside(config, plain, decoder.norm);
    }
    layer.finish = finish_of(decoder.hidden_size, decoder.norm, per_layer, layers);
  }
  return decoder;
}

void build_gemma4_text(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, gemma4_decoder(config));
}

}  // namespace kcharter
