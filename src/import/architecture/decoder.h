// Decoder: a stack of layers that predicts the next token, as a description that one function writes.
//
//   Decoder decoder = llama_decoder(config);
//   for (Layer& layer : decoder.layers) …            // what this family does differently
//   build(builder, decoder);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/attention.h"
#include "import/architecture/components.h"
#include "import/architecture/latent_attention.h"
#include "import/architecture/mixture_of_experts.h"
#include "import/architecture/model_config.h"
#include "import/architecture/recurrent.h"

namespace kcharter {

// Anything that maps the hidden state to a hidden state of the same size: Attention, FeedForward,
// MixtureOfExperts, a lambda of a family's own. The number is the layer's.
using Block = std::function<ValueId(GraphBuilder& builder, ValueId hidden, int64_t layer)>;

// x += after(mixer(before(x))); x += after(feed_forward(before(x))). Norms with empty names are not there.
struct Layer {
  std::string class_name;
  Block mixer;         // may be empty
  Block cross;         // may be empty: attention to an encoder's output, between the two
  std::string cross_norm;
  Block feed_forward;  // may be empty
  Block finish;        // may be empty: what is done to the hidden state last
  std::string mixer_norm = "input_layernorm";
  std::string after_mixer_norm;
  std::string feed_forward_norm = "post_attention_layernorm";
  std::string after_feed_forward_norm;
  bool norm_after_sum = false;  // x = norm(x + block(x)): the encoders of BERT's time
  bool parallel = false;  // both blocks read the layer's input; one norm feeds both unless the second has a name
  double residual_scale = 1;
};

// Layers one after the other, of a decoder, an encoder or a vision tower.
struct Stack {
  std::string layer_list = "layers";
  std::vector<Layer> layers;
  int64_t hidden_size = 0;
  Norm norm;
};

struct Decoder : Stack {
  // Run once between the embedding and the first layer, on the hidden state; may be empty. Image
  // tokens are put in here.
  std::function<ValueId(GraphBuilder& builder, const Decoder& decoder, ValueId ids, ValueId hidden)> before_layers;
  std::string model = "model";
  std::string model_class;
  int64_t vocab_size = 0;
  std::string embedding = "embed_tokens";
  int64_t embedding_size = 0;      // 0: hidden_size
  double embedding_scale = 1;
  std::string embedding_norm;
  std::string project_in = "project_in", project_out = "project_out";  // where embedding_size differs
  std::string positions;           // a learned table; empty: none
  int64_t position_rows = 0;
  std::string final_norm = "norm";
  std::string head = "lm_head";    // empty: the hidden state is the output
  bool head_bias = false;
  bool tied = false;
  double logit_scale = 1;
  double logit_softcap = 0;
};

// Writes input_ids → logits of the last token (prefill) or of the new one (decode).
void build(GraphBuilder& builder, const Decoder& decoder);
// The logits; `table` is the embedding's, which a tied head uses again.
ValueId build_head(GraphBuilder& builder, const Decoder& decoder, ValueId hidden,
                   const std::vector<ValueId>& table);
// One layer, in the scope of the model.
ValueId build_layer(GraphBuilder& builder, const Stack& stack, const Layer& layer, ValueId hidden,
                    int64_t index);
ValueId build_layers(GraphBuilder& builder, const Stack& stack, ValueId hidden);

// What a Llama-like configuration says, in the names that most families share.
Attention attention_of(const ModelConfig& config);
FeedForward feed_forward_of(const ModelConfig& config);
// Embedding, norms and head; layers of attention_of and feed_forward_of.
Decoder decoder_of(const ModelConfig& config);
Norm rms_norm_of(const ModelConfig& config);
Norm layer_norm_of(const ModelConfig& config);
// The same blocks in every layer; with `windows`, the attention of layer i has the window i.
void use_in_all_layers(Stack& stack, const Block& mixer, const Block& feed_forward);
void use_in_all_layers(Stack& stack, Attention attention, const Block& feed_forward,
                       const std::vector<std::optional<int64_t>>& windows);
// Throws Error above what a model can have.
int64_t layers_of(const ModelConfig& config);
// The window of each layer: sliding_window (or `size`) where layer_types says so; where it says
// nothing, in all but every `period`-th layer (0: none slides, 1: all slide).
std::vector<std::optional<int64_t>> windows_of(const ModelConfig& config, int64_t period,
                                               std::optional<int64_t> size = std::nullopt);

}  // namespace kcharter
