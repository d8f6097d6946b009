// Fish Audio's S2: a decoder of Qwen 3's shape reads text and codes of sound; a small one after it says the
// codes of each frame, one codebook after the other.
#include "import/architecture/families/language_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

Decoder fish_decoder(const ModelConfig& c) {
  int64_t size = c.require("dim"), heads = c.require("n_head"), layers = c.require("n_layer");
  if (size < 1 || heads < 1 || layers < 0 || layers > 10'000) {
    throw Error("'dim' is " + std::to_string(size) + ", 'n_head' " + std::to_string(heads) + ", 'n_layer' " +
                std::to_string(layers) + ": out of range");
  }
  if (c.flag("use_moe", false)) throw Error("'use_moe' is set: the layout of its experts is not known");
  Decoder decoder;
  decoder.hidden_size = size;
  decoder.vocab_size = c.require("vocab_size");
  decoder.embedding = "embeddings";
  decoder.norm = {.kind = NormKind::kRms, .epsilon = c.number("norm_eps", 1e-6)};
  Attention attention;
  attention.name = "attention";
  attention.hidden_size = size;
  attention.heads = heads;
  attention.kv_heads = c.integer("n_local_heads", heads);
  attention.head_dim = c.integer("head_dim", size / heads);
  attention.fused = "wqkv";
  attention.output = "wo";
  attention.qkv_bias = c.flag("attention_qkv_bias", false);
  attention.output_bias = c.flag("attention_o_bias", false);
  if (c.flag("attention_qk_norm", false)) attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.norm = decoder.norm;
  FeedForward feed_forward;
  feed_forward.name = "feed_forward";
  feed_forward.gate = "w1";
  feed_forward.up = "w3";
  feed_forward.down = "w2";
  feed_forward.hidden_size = size;
  feed_forward.intermediate_size = c.require("intermediate_size");
  Layer layer;
  layer.mixer_norm = "attention_norm";
  layer.feed_forward_norm = "ffn_norm";
  decoder.layers.assign(static_cast<size_t>(layers), layer);
  use_in_all_layers(decoder, attention, feed_forward);
  decoder.tied = c.flag("tie_word_embeddings", true);
  decoder.head = "output";
  return decoder;
}

// Its tensors alone: the steps over the codebooks of one frame are a loop of their own.
void declare_sound(GraphBuilder& b, const ModelConfig& c) {
  GraphBuilder::Silence silence(b);
  Decoder decoder = fish_decoder(c);
  auto scope = b.scope("audio_decoder");
  int64_t books = c.require("num_codebooks"), text = c.integer("text_dim", decoder.hidden_size);
  if (books < 1 || books > 10'000) throw Error("'num_codebooks' is " + std::to_string(books));
  embed(b, "codebook_embeddings", books * decoder.vocab_size, text, {});
  embed(b, "embeddings", decoder.vocab_size, decoder.hidden_size, {});
  if (text != decoder.hidden_size) linear(b, {}, {"project_in", text, decoder.hidden_size, true});
  build_layers(b, decoder, {});
  normalize(b, {}, "norm", decoder.hidden_size, decoder.norm);
  linear(b, {}, {"output", decoder.hidden_size, decoder.vocab_size});
}

}  // namespace

void build_fish_qwen3_omni(GraphBuilder& builder, const ModelConfig& config) {
  builder.expect("work of the audio decoder is not counted, its weights are");
  declare_sound(builder, config.section("audio_decoder_config"));
  Decoder decoder = fish_decoder(config.section("text_config"));
  decoder.model = "text_model.model";
  decoder.head = "text_model.output";
  build(builder, decoder);
}

}  // namespace kcharter
