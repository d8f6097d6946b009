// BART and its relatives: the same words, other norms and positions. Whisper reads sound.
#include "import/architecture/encoder_decoder.h"
#include "import/architecture/families/encoder_families.h"
#include "import/architecture/families/families.h"

namespace kcharter {

void build_bart(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.embedding_norm = model.logits_bias = true;
  model.position_rows = config.require("max_position_embeddings") + 2;  // the first two are padding
  build(builder, model, config);
}

void build_mbart(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.norm_before = model.final_norm = model.embedding_norm = model.logits_bias = true;
  model.position_rows = config.require("max_position_embeddings") + 2;
  build(builder, model, config);
}

void build_m2m_100(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.norm_before = model.final_norm = true;
  build(builder, model, config);
}

void build_marian(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.logits_bias = true;
  model.position_rows = config.require("max_position_embeddings");
  build(builder, model, config);
}

void build_pegasus(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.norm_before = model.final_norm = model.logits_bias = true;
  model.position_rows = config.require("max_position_embeddings");
  build(builder, model, config);
}

void build_blenderbot(GraphBuilder& builder, const ModelConfig& config) {
  build_pegasus(builder, config);
}

void build_blenderbot_small(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.embedding_norm = model.logits_bias = true;
  model.position_rows = config.require("max_position_embeddings");
  build(builder, model, config);
}

// Every encoder_sparse_step-th layer routes each token to two experts.
void build_nllb_moe(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.norm_before = model.final_norm = true;
  model.feed_forward_norm = "ff_layer_norm";
  model.cross = "cross_attention";
  model.cross_norm = "cross_attention_layer_norm";
  model.feed_forward = [&config, model](bool encoder, int64_t layer) -> Block {
    FeedForward plain = side_feed_forward(model, encoder);
    plain.name = "ffn";
    int64_t step = config.integer(encoder ? "encoder_sparse_step" : "decoder_sparse_step", 4);
    if (step <= 0 || (layer + 1) % step != 0) return plain;
    MixtureOfExperts experts;
    experts.name = "ffn";
    experts.hidden_size = model.hidden_size;
    experts.intermediate_size = plain.intermediate_size;
    experts.experts = config.integer("num_experts", 128);
    experts.chosen = 2;
    experts.router = "router.classifier";
    experts.router_bias = config.flag("router_bias", false);
    experts.expert_prefix = "expert_";
    experts.gate.clear();
    experts.up = "fc1";
    experts.down = "fc2";
    experts.biases = true;
    experts.activation = model.activation;
    return experts;
  };
  build(builder, model, config);
}

ValueId read_sound(GraphBuilder& b, const SoundInput& part, const Expr& tokens) {
  ValueId sound;
  if (!b.silent())
    sound =
        b.input("input_features", b.activation_dtype(), {b.batch(), Expr(part.bins), 2 * tokens});
  auto convolve = [&](ValueId x, const char* name, int64_t in, int64_t stride) {
    auto scope = b.scope(name);
    std::vector<ValueId> inputs = {x, b.parameter("weight", {part.size, in, 3}),
                                   b.parameter("bias", {part.size})};
    std::vector<Attribute> attributes = {attribute("kernel_shape", std::vector<int64_t>{3}),
                                         attribute("pads", std::vector<int64_t>{1, 1}),
                                         attribute("strides", std::vector<int64_t>{stride})};
    return activate(b, b.op("Conv", std::move(inputs), std::move(attributes)), "gelu");
  };
  ValueId x = convolve(convolve(sound, "conv1", part.bins, 1), "conv2", part.size, 2);
  x = b.op("Transpose", {x}, {attribute("perm", std::vector<int64_t>{0, 2, 1})});
  auto positions = b.scope("embed_positions");
  return b.ours("AddPositions", {x, b.parameter("weight", {part.rows, part.size})});
}

void build_whisper(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.norm_before = model.final_norm = true;
  model.key_bias = model.shared = false;
  model.head = "proj_out";
  model.position_rows = config.integer("max_target_positions", 448);
  SoundInput sound{model.hidden_size, config.integer("num_mel_bins", 80),
                   config.integer("max_source_positions", 1500)};
  model.default_encoded_tokens = sound.rows;
  model.encoder_input = [sound](GraphBuilder& b, const Expr& tokens) {
    return read_sound(b, sound, tokens);
  };
  build(builder, model, config);
}

}  // namespace kcharter
