// Decoders of Llama's shape that differ in a name, a bias, a norm or a factor.
#include <cmath>

#include "import/architecture/families/families.h"
#include "import/architecture/families/rotation_buffers.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

void build_with(GraphBuilder& builder, const ModelConfig& config, const Attention& attention) {
  Decoder decoder = decoder_of(config);
  use_in_all_layers(decoder, attention, feed_forward_of(config));
  build(builder, decoder);
}

Attention biased_attention(const ModelConfig& config, bool by_default) {
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("bias", config.flag("attention_bias", by_default));
  return attention;
}

}  // namespace

void build_internlm(GraphBuilder& builder, const ModelConfig& config) {
  build_with(builder, config, biased_attention(config, true));
}

// Its code keeps the frequencies of rotation with every layer.
void build_pangu_embedded(GraphBuilder& builder, const ModelConfig& config) {
  Attention attention = biased_attention(config, true);
  build_with(builder, config, attention);
  store_frequencies(builder, layers_of(config), attention.head_dim);
}

void build_seed_oss(GraphBuilder& builder, const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 128);
  attention.qkv_bias = config.flag("attention_bias", true);
  attention.output_bias = config.flag("attention_out_bias", false);
  build_with(builder, config, attention);
}

void build_baichuan(GraphBuilder& builder, const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.fused = "W_pack";
  build_with(builder, config, attention);
}

void build_orion(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = {.kind = NormKind::kLayer, .epsilon = config.number("rms_norm_eps", 1e-5)};
  build(builder, decoder);
}

void build_minicpm(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.embedding_scale = config.number("scale_emb", 1);
  double depth = config.number("scale_depth", 0);
  double layers = static_cast<double>(decoder.layers.size());
  for (Layer& layer : decoder.layers) {
    if (depth > 0) layer.residual_scale = depth / std::sqrt(layers);
  }
  double base = config.number("dim_model_base", 0);
  if (base > 0) decoder.logit_scale = base / static_cast<double>(decoder.hidden_size);
  build(builder, decoder);
}

void build_internlm2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.embedding = "tok_embeddings";
  decoder.head = "output";
  Attention attention = attention_of(config);
  attention.name = "attention";
  attention.fused = "wqkv";
  attention.output = "wo";
  attention.qkv_bias = attention.output_bias = config.flag("bias", true);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.name = "feed_forward";
  feed_forward.gate = "w1";
  feed_forward.up = "w3";
  feed_forward.down = "w2";
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) {
    layer.mixer_norm = "attention_norm";
    layer.feed_forward_norm = "ffn_norm";
  }
  build(builder, decoder);
}

// The first Qwen: intermediate_size counts gate and up together.
void build_qwen1(GraphBuilder& builder, const ModelConfig& config) {
  if (config.has("visual")) throw Error("'visual' names a vision tower whose layers are not known");
  Decoder decoder = decoder_of(config);
  decoder.model = "transformer";
  decoder.embedding = "wte";
  decoder.layer_list = "h";
  decoder.final_norm = "ln_f";
  decoder.norm.epsilon = config.number("layer_norm_epsilon", 1e-6);
  Attention attention = attention_of(config);
  attention.name = "attn";
  attention.fused = "c_attn";
  attention.output = "c_proj";
  attention.qkv_bias = true;
  attention.output_bias = !config.flag("no_bias", true);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.intermediate_size /= 2;
  feed_forward.up = "w1";
  feed_forward.gate = "w2";
  feed_forward.down = "c_proj";
  feed_forward.up_bias = feed_forward.down_bias = attention.output_bias;
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) {
    layer.mixer_norm = "ln_1";
    layer.feed_forward_norm = "ln_2";
  }
  build(builder, decoder);
}

void build_stablelm(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = layer_norm_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = config.flag("use_qkv_bias", false);
  double share = config.number("partial_rotary_factor", config.number("rope_pct", 0.25));
  attention.rotary_dim = static_cast<int64_t>(static_cast<double>(attention.head_dim) * share);
  if (config.flag("qk_layernorm", false)) {
    attention.query_key_norm = QueryKeyNorm::kEachHead;
    attention.query_norm = "q_layernorm";
    attention.key_norm = "k_layernorm";
    attention.norm = decoder.norm;
    attention.norm.bias = false;
  }
  use_in_all_layers(decoder, attention, feed_forward_of(config));
  for (Layer& layer : decoder.layers) {
    layer.parallel = config.flag("use_parallel_residual", false);
    if (layer.parallel) layer.feed_forward_norm.clear();
  }
  build(builder, decoder);
}

void build_starcoder2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.norm = layer_norm_of(config);
  bool biased = config.flag("use_bias", true);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = biased;
  attention.window = config.integer("sliding_window");
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.gate.clear();
  feed_forward.up = "c_fc";
  feed_forward.down = "c_proj";
  feed_forward.up_bias = feed_forward.down_bias = biased;
  feed_forward.activation = config.text("hidden_act", "gelu_pytorch_tanh");
  use_in_all_layers(decoder, attention, feed_forward);
  build(builder, decoder);
}

// Also Arcee, without biases and with RMS norms: squared ReLU, no gate.
void build_nemotron(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.norm = layer_norm_of(config);
  decoder.norm.epsilon = config.number("norm_eps", 1e-5);
  Attention attention = biased_attention(config, false);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.gate.clear();
  feed_forward.activation = config.text("hidden_act", "relu2");
  feed_forward.up_bias = feed_forward.down_bias = config.flag("mlp_bias", false);
  use_in_all_layers(decoder, attention, feed_forward);
  build(builder, decoder);
}

void build_arcee(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.gate.clear();
  feed_forward.activation = config.text("hidden_act", "relu2");
  feed_forward.up_bias = feed_forward.down_bias = config.flag("mlp_bias", false);
  use_in_all_layers(decoder, biased_attention(config, false), feed_forward);
  build(builder, decoder);
}

// Every fourth layer does without rotary embedding.
void build_smollm3(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  Attention attention = biased_attention(config, false);
  FeedForward feed_forward = feed_forward_of(config);
  std::vector<int64_t> rotary = config.integers("no_rope_layers");
  int64_t period = config.integer("no_rope_layer_interval", 4);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    attention.rotary = i < rotary.size() ? rotary[i] != 0
                                         : period == 0 || (static_cast<int64_t>(i) + 1) % period != 0;
    decoder.layers[i].mixer = attention;
    decoder.layers[i].feed_forward = feed_forward;
  }
  build(builder, decoder);
}

void build_hunyuan_dense(GraphBuilder& builder, const ModelConfig& config) {
  Attention attention = biased_attention(config, false);
  attention.query_key_norm = config.flag("use_qk_norm", true) ? QueryKeyNorm::kPerHead : QueryKeyNorm::kNone;
  attention.query_norm = "query_layernorm";
  attention.key_norm = "key_layernorm";
  build_with(builder, config, attention);
}

void build_ernie(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("use_bias", false);
  FeedForward feed_forward = feed_forward_of(config);
  feed_forward.up_bias = feed_forward.down_bias = config.flag("use_bias", false);
  use_in_all_layers(decoder, attention, feed_forward);
  build(builder, decoder);
}

}  // namespace kcharter
