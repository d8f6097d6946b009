// OPT and XGLM: decoders in the words of fairseq.
#include <cmath>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

Decoder fairseq_decoder(const ModelConfig& config, const char* model, int64_t feed_forward_size) {
  Decoder decoder;
  decoder.model = model;
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.norm = layer_norm_of(config);
  decoder.tied = config.flag("tie_word_embeddings", true);
  Attention attention = attention_of(config);
  attention.output = "out_proj";
  attention.rotary = false;
  attention.qkv_bias = attention.output_bias = config.flag("enable_bias", true);
  FeedForward feed_forward;
  feed_forward.name.clear();
  feed_forward.gate.clear();
  feed_forward.up = "fc1";
  feed_forward.down = "fc2";
  feed_forward.up_bias = feed_forward.down_bias = attention.qkv_bias;
  feed_forward.hidden_size = decoder.hidden_size;
  feed_forward.intermediate_size = feed_forward_size;
  feed_forward.activation = config.text("activation_function", "relu");
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.mixer_norm = "self_attn_layer_norm";
  layer.feed_forward_norm = "final_layer_norm";
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  return decoder;
}

}  // namespace

// The first two rows of the position table are for padding. The 350M size alone norms after its
// blocks and embeds into fewer dimensions.
Decoder opt_decoder(const ModelConfig& config) {
  Decoder decoder = fairseq_decoder(config, "model.decoder", config.require("intermediate_size"));
  decoder.positions = "embed_positions";
  decoder.position_rows = config.require("max_position_embeddings") + 2;
  decoder.norm.weight = config.flag("layer_norm_elementwise_affine", true);
  decoder.final_norm = "final_layer_norm";
  decoder.embedding_size = config.integer("word_embed_proj_dim", decoder.hidden_size);
  bool norm_before = config.flag("do_layer_norm_before", true);
  if (!norm_before || config.flag("_remove_final_layer_norm", false)) decoder.final_norm.clear();
  for (Layer& layer : decoder.layers) {
    if (norm_before) continue;
    layer.norm_after_sum = true;
  }
  return decoder;
}

void build_opt(GraphBuilder& builder, const ModelConfig& config) { build(builder, opt_decoder(config)); }

// Positions are computed, not learned.
void build_xglm(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = fairseq_decoder(config, "model", config.require("intermediate_size"));
  decoder.final_norm = "layer_norm";
  if (config.flag("scale_embedding", true)) {
    decoder.embedding_scale = std::sqrt(static_cast<double>(decoder.hidden_size));
  }
  build(builder, decoder);
}

}  // namespace kcharter
