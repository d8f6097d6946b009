// Longformer and LED: a window on each side of a token, and a second set of projections for tokens
// that see everything.
#include "import/architecture/encoder_decoder.h"
#include "import/architecture/families/encoder_families.h"
#include "import/architecture/text_encoder.h"

namespace kcharter {
namespace {

int64_t window_at(const ModelConfig& config, int64_t layer) {
  std::vector<int64_t> windows = config.integers("attention_window");
  if (layer < static_cast<int64_t>(windows.size())) return windows[static_cast<size_t>(layer)];
  return config.integer("attention_window", 512);
}

Block local_attention(Attention local, const std::string& scope_of_projections, int64_t window) {
  local.block = window + 1;
  return [local, scope_of_projections](GraphBuilder& b, ValueId x, int64_t i) {
    {
      auto scope = b.scope(scope_of_projections);
      GraphBuilder::Silence no_global_tokens(b);
      for (const char* name : {"query_global", "key_global", "value_global"}) {
        linear(b, {}, {name, local.hidden_size, local.hidden_size, true});
      }
    }
    return local(b, x, i);
  };
}

}  // namespace

void build_longformer(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(config, "longformer");
  encoder.heads = HeadStyle::kRoberta;
  for (size_t i = 0; i < encoder.stack.layers.size(); ++i) {
    Layer& layer = encoder.stack.layers[i];
    layer.mixer = local_attention(*layer.mixer.target<Attention>(), "attention.self",
                                  window_at(config, static_cast<int64_t>(i)));
  }
  build(builder, encoder, config);
}

void build_led(GraphBuilder& builder, const ModelConfig& config) {
  EncoderDecoder model = encoder_decoder_of(config);
  model.model = "led";
  model.embedding_norm = model.logits_bias = true;
  model.position_rows = config.integer("max_decoder_position_embeddings", 1024);
  model.encoder_position_rows = config.integer("max_encoder_position_embeddings", 16384);
  model.encoder_attention = [config](Attention attention, int64_t layer) {
    attention.query = "longformer_self_attn.query";
    attention.key = "longformer_self_attn.key";
    attention.value = "longformer_self_attn.value";
    attention.output = "output";
    return local_attention(attention, "self_attn.longformer_self_attn", window_at(config, layer));
  };
  build(builder, model, config);
}

}  // namespace kcharter
