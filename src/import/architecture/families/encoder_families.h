// Encoders of text, encoder-decoders, and the table of their names.
#pragma once

#include <span>

#include "import/architecture/family.h"

namespace kcharter {

std::span<const Family> encoder_families();

// bert.cc
void build_bert(GraphBuilder& builder, const ModelConfig& config);
void build_roberta(GraphBuilder& builder, const ModelConfig& config);
void build_electra(GraphBuilder& builder, const ModelConfig& config);
void build_megatron_bert(GraphBuilder& builder, const ModelConfig& config);
void build_distilbert(GraphBuilder& builder, const ModelConfig& config);
void build_albert(GraphBuilder& builder, const ModelConfig& config);
void build_mpnet(GraphBuilder& builder, const ModelConfig& config);
// deberta.cc
void build_deberta1(GraphBuilder& builder, const ModelConfig& config);
void build_deberta2(GraphBuilder& builder, const ModelConfig& config);
// longformer.cc
void build_longformer(GraphBuilder& builder, const ModelConfig& config);
void build_led(GraphBuilder& builder, const ModelConfig& config);
// bart.cc
void build_bart(GraphBuilder& builder, const ModelConfig& config);
void build_mbart(GraphBuilder& builder, const ModelConfig& config);
void build_m2m_100(GraphBuilder& builder, const ModelConfig& config);
void build_marian(GraphBuilder& builder, const ModelConfig& config);
void build_pegasus(GraphBuilder& builder, const ModelConfig& config);
void build_blenderbot(GraphBuilder& builder, const ModelConfig& config);
void build_blenderbot_small(GraphBuilder& builder, const ModelConfig& config);
void build_nllb_moe(GraphBuilder& builder, const ModelConfig& config);
// Log-mel frames through two convolutions; half as many positions as frames.
struct SoundInput {
  int64_t size = 0, bins = 80, rows = 1500;  // rows of the table of positions
};
ValueId read_sound(GraphBuilder& builder, const SoundInput& part, const Expr& tokens);
void build_whisper(GraphBuilder& builder, const ModelConfig& config);
// t5.cc
void build_t5(GraphBuilder& builder, const ModelConfig& config);
// With an image's tokens (may be none) in the encoder's text.
void build_t5_reading(GraphBuilder& builder, const ModelConfig& config, ValueId image);
void build_t5_encoder(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
