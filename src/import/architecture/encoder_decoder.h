// EncoderDecoder: an encoder read once, a decoder that attends to its output. Decode runs the decoder
// alone, on the keys and values kept from the encoder's output.
#pragma once

#include <cstdint>
#include <string>

#include "import/architecture/decoder.h"

namespace kcharter {

// One side's own facts: "encoder_layers" or "decoder_layers" …
struct SideSizes {
  int64_t layers = 0, heads = 0, intermediate_size = 0;
};
SideSizes side_sizes(const ModelConfig& config, const char* side);

// What BART, mBART, M2M-100, Marian, Pegasus and Whisper differ in.
struct EncoderDecoder {
  std::string model = "model";
  int64_t hidden_size = 0, vocab_size = 0;
  SideSizes encoder, decoder;
  Norm norm;
  std::string activation = "relu";
  bool norm_before = false;         // rather than after the sum
  bool embedding_norm = false;      // layernorm_embedding
  bool final_norm = false;          // layer_norm
  int64_t position_rows = 0;        // 0: computed, not stored
  int64_t encoder_position_rows = 0;  // 0: position_rows
  bool key_bias = true;
  bool shared = true;               // model.shared is every table
  double embedding_scale = 1;
  std::string head = "lm_head";
  bool logits_bias = false;         // final_logits_bias, a buffer
  // Feed-forward blocks by side and layer; empty: fc1 and fc2.
  std::function<Block(bool encoder, int64_t layer)> feed_forward;
  // The encoder's attention where it is not to all tokens; empty: it is.
  std::function<Block(Attention attention, int64_t layer)> encoder_attention;
  std::string feed_forward_norm = "final_layer_norm";
  std::string cross = "encoder_attn", cross_norm = "encoder_attn_layer_norm";
  // Makes the encoder's input where it is not text (Whisper): writes within the encoder's scope.
  std::function<ValueId(GraphBuilder& builder, const Expr& tokens)> encoder_input;
  int64_t default_encoded_tokens = 512;
};

// The name of the class says what stands on top: "…Model" is bare, "…ForSequenceClassification" and
// "…ForQuestionAnswering" have heads of their own, all others predict the next token.
void build(GraphBuilder& builder, const EncoderDecoder& model, const ModelConfig& config);
EncoderDecoder encoder_decoder_of(const ModelConfig& config);
// fc1 and fc2 of one side, without a module of their own.
FeedForward side_feed_forward(const EncoderDecoder& model, bool encoder);

}  // namespace kcharter
