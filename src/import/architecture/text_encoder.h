// TextEncoder: BERT and the encoders after it. Three embeddings are summed, layers follow, and the
// name of the class says what stands on top: a model of masked words, a classifier …
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "import/architecture/decoder.h"

namespace kcharter {

// Whose names the parts on top of the encoder have.
enum class HeadStyle : uint8_t { kBert, kRoberta, kElectra, kDeberta, kDistil, kAlbert };

struct TextEncoder {
  std::string prefix = "bert";  // of the encoder where something stands on top of it
  HeadStyle heads = HeadStyle::kBert;
  int64_t hidden_size = 0, embedding_size = 0, vocab_size = 0, positions = 512, types = 2;
  bool position_embeddings = true, embedding_norm = true;
  std::string projection = "embeddings_project";  // where embedding_size differs
  std::string pooler = "pooler.dense";            // empty: none
  std::string activation;
  Norm norm;
  Stack stack;
  // Runs in place of the stack where layers are not simply one after the other; may be empty.
  std::function<ValueId(GraphBuilder& builder, ValueId hidden)> layers;
};

// BERT's sizes and layers.
TextEncoder text_encoder_of(const ModelConfig& config, std::string_view prefix);
void build(GraphBuilder& builder, const TextEncoder& encoder, const ModelConfig& config);

template <typename Change>
void change_attention(Stack& stack, Change change) {
  for (Layer& layer : stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    change(attention);
    layer.mixer = attention;
  }
}

}  // namespace kcharter
