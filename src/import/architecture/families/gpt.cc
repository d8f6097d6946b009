// The GPT line: learned positions or partial rotary embedding, LayerNorm, plain feed-forward blocks.
#include "import/architecture/families/families.h"
#include "import/architecture/families/rotation_buffers.h"

namespace kcharter {
namespace {

constexpr const char* kGelu = "gelu_new";

Decoder gpt_decoder(const ModelConfig& config, bool tied_by_default) {
  Decoder decoder;
  decoder.model = "transformer";
  decoder.embedding = "wte";
  decoder.layer_list = "h";
  decoder.final_norm = "ln_f";
  decoder.norm = layer_norm_of(config);
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.tied = config.flag("tie_word_embeddings", tied_by_default);
  Layer layer;
  layer.mixer_norm = "ln_1";
  layer.feed_forward_norm = "ln_2";
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  return decoder;
}

FeedForward gpt_feed_forward(const ModelConfig& config, const char* up, const char* down) {
  FeedForward part;
  part.gate.clear();
  part.up = up;
  part.down = down;
  part.up_bias = part.down_bias = true;
  part.hidden_size = config.require("hidden_size");
  part.intermediate_size = config.integer("intermediate_size", 4 * part.hidden_size);
  part.activation = config.text("activation_function", kGelu);
  return part;
}

Attention gpt_attention(const ModelConfig& config, const char* name) {
  Attention part = attention_of(config);
  part.name = name;
  part.qkv_bias = part.output_bias = true;
  part.rotary = false;
  return part;
}

// GPT-J and CodeGen: one norm feeds both blocks, an untied head with a bias.
Decoder parallel_decoder(const ModelConfig& config) {
  Decoder decoder = gpt_decoder(config, false);
  decoder.head_bias = true;
  for (Layer& layer : decoder.layers) {
    layer.parallel = true;
    layer.feed_forward_norm.clear();
  }
  return decoder;
}

Attention rotary_attention(const ModelConfig& config) {
  Attention part = gpt_attention(config, "attn");
  part.rotary = true;
  part.rotary_dim = config.integer("rotary_dim", 64);
  part.qkv_bias = part.output_bias = false;
  part.output = "out_proj";
  return part;
}

}  // namespace

void build_gpt2(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gpt_decoder(config, true);
  decoder.positions = "wpe";
  decoder.position_rows = config.require("max_position_embeddings");
  Attention attention = gpt_attention(config, "attn");
  attention.fused = "c_attn";
  attention.output = "c_proj";
  attention.stored_in_out = true;
  FeedForward feed_forward = gpt_feed_forward(config, "c_fc", "c_proj");
  feed_forward.stored_in_out = true;
  use_in_all_layers(decoder, attention, feed_forward);
  build(builder, decoder);
}

void build_gpt_bigcode(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gpt_decoder(config, true);
  decoder.positions = "wpe";
  decoder.position_rows = config.require("max_position_embeddings");
  Attention attention = gpt_attention(config, "attn");
  attention.fused = "c_attn";
  attention.output = "c_proj";
  if (config.flag("multi_query", true)) attention.kv_heads = 1;
  use_in_all_layers(decoder, attention, gpt_feed_forward(config, "c_fc", "c_proj"));
  build(builder, decoder);
}

void build_gptj(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = parallel_decoder(config);
  use_in_all_layers(decoder, rotary_attention(config), gpt_feed_forward(config, "fc_in", "fc_out"));
  build(builder, decoder);
}

void build_codegen(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = parallel_decoder(config);
  Attention attention = rotary_attention(config);
  attention.fused = "qkv_proj";
  use_in_all_layers(decoder, attention, gpt_feed_forward(config, "fc_in", "fc_out"));
  build(builder, decoder);
}

// Global and local layers alternate unless attention_types says otherwise.
void build_gpt_neo(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gpt_decoder(config, true);
  decoder.positions = "wpe";
  decoder.position_rows = config.require("max_position_embeddings");
  Attention attention = gpt_attention(config, "attn.attention");
  attention.qkv_bias = false;
  attention.output = "out_proj";
  std::vector<std::string> kinds = config.texts("attention_layers");
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    bool local = i < kinds.size() ? kinds[i] == "local" : i % 2 == 1;
    attention.window.reset();
    if (local) attention.window = config.integer("window_size", 256);
    decoder.layers[i].mixer = attention;
    decoder.layers[i].feed_forward = gpt_feed_forward(config, "c_fc", "c_proj");
  }
  build(builder, decoder);
}

namespace {

// Before 4.31 each layer's causal mask, its value and the frequencies of rotation were saved.
void declare_saved_buffers(GraphBuilder& builder, const ModelConfig& config, const Attention& attention) {
  std::optional<int> version = written_by(config);
  if (!version || *version >= 31) return;
  int64_t positions = config.integer("max_position_embeddings", 2048);
  for (int64_t i = 0; i < layers_of(config); ++i) {
    auto model = builder.scope("gpt_neox");
    auto layer = builder.scope("layers", i);
    auto scope = builder.scope("attention");
    builder.buffer("bias", {1, 1, positions, positions}, *version < 28 ? DType::kUInt8 : DType::kBool);
    builder.buffer("masked_bias", {}, builder.options().dtype);
    builder.buffer("rotary_emb.inv_freq", {attention.rotary_dim.value_or(attention.head_dim) / 2}, DType::kF32);
  }
}

}  // namespace

void build_gpt_neox(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  decoder.model = "gpt_neox";
  decoder.embedding = "embed_in";
  decoder.final_norm = "final_layer_norm";
  decoder.head = "embed_out";
  decoder.norm = layer_norm_of(config);
  Attention attention = attention_of(config);
  attention.name = "attention";
  attention.fused = "query_key_value";
  attention.output = "dense";
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", true);
  double share = config.number("rotary_pct", 0.25);
  attention.rotary_dim = static_cast<int64_t>(static_cast<double>(attention.head_dim) * share);
  FeedForward feed_forward = gpt_feed_forward(config, "dense_h_to_4h", "dense_4h_to_h");
  feed_forward.activation = config.text("hidden_act", "gelu");
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) layer.parallel = config.flag("use_parallel_residual", true);
  build(builder, decoder);
  declare_saved_buffers(builder, config, attention);
}

void build_bloom(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gpt_decoder(config, true);
  decoder.embedding = "word_embeddings";
  decoder.embedding_norm = "word_embeddings_layernorm";
  Attention attention = gpt_attention(config, "self_attention");
  attention.fused = "query_key_value";
  attention.output = "dense";
  FeedForward feed_forward = gpt_feed_forward(config, "dense_h_to_4h", "dense_4h_to_h");
  feed_forward.intermediate_size = 4 * decoder.hidden_size;
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) {
    layer.mixer_norm = "input_layernorm";
    layer.feed_forward_norm = "post_attention_layernorm";
  }
  build(builder, decoder);
}

void build_mpt(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gpt_decoder(config, true);
  bool biased = !config.flag("no_bias", true);
  decoder.layer_list = "blocks";
  decoder.final_norm = "norm_f";
  decoder.norm.bias = biased;
  ModelConfig nested = config.section("attn_config");
  if (!nested.flag("alibi", true) && config.flag("learned_pos_emb", true)) {
    decoder.positions = "wpe";
    decoder.position_rows = config.require("max_position_embeddings");
  }
  Attention attention = gpt_attention(config, "attn");
  attention.fused = "Wqkv";
  attention.output = "out_proj";
  attention.qkv_bias = attention.output_bias = biased;
  attention.kv_heads = nested.integer("kv_n_heads", attention.heads);
  if (nested.text("attn_type") == "multiquery_attention") attention.kv_heads = 1;
  FeedForward feed_forward = gpt_feed_forward(config, "up_proj", "down_proj");
  feed_forward.name = "ffn";
  feed_forward.up_bias = feed_forward.down_bias = biased;
  feed_forward.intermediate_size = decoder.hidden_size * config.integer("expansion_ratio", 4);
  use_in_all_layers(decoder, attention, feed_forward);
  for (Layer& layer : decoder.layers) {
    layer.mixer_norm = "norm_1";
    layer.feed_forward_norm = "norm_2";
  }
  build(builder, decoder);
}

}  // namespace kcharter
