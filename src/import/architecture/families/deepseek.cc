// DeepSeek 1 to 3.2, Kimi K2, GLM-4.5 and GLM-5: shared and routed experts after a few dense layers,
// latent attention from DeepSeek 2 on, sparse attention from 3.2 on, layers that predict further tokens.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

MixtureOfExperts deepseek_experts(const ModelConfig& config, bool corrected) {
  MixtureOfExperts experts = mixture_of(config);
  if (corrected) experts.correction_bias = "gate.e_score_correction_bias";
  int64_t shared = config.integer("n_shared_experts", 0);
  if (shared > 0) {
    FeedForward part = feed_forward_of(config);
    part.name = "shared_experts";
    part.intermediate_size = experts.intermediate_size * shared;
    experts.shared = part;
  }
  return experts;
}

bool is_dense(const ModelConfig& config, int64_t layer) {
  std::vector<std::string> types = config.texts("mlp_layer_types");
  if (static_cast<size_t>(layer) < types.size()) return types[static_cast<size_t>(layer)] == "dense";
  int64_t step = config.integer("moe_layer_freq", 1);
  return layer < config.integer("first_k_dense_replace", 0) || (step > 1 && layer % step != 0);
}

// Layers past the last: each joins the embedding of the next token to the hidden state and runs one
// more layer; most checkpoints store embedding and head with it once more, GLM-5's do not.
void declare_prediction_layers(GraphBuilder& builder, const ModelConfig& config, const Decoder& decoder,
                               const Layer& last) {
  bool copies = config.text("model_type") != "glm_moe_dsa";
  GraphBuilder::Silence silence(builder);
  int64_t size = decoder.hidden_size;
  int64_t count = config.integer("num_nextn_predict_layers", 0);
  for (int64_t i = 0; i < count && i < 64; ++i) {
    int64_t index = static_cast<int64_t>(decoder.layers.size()) + i;
    auto model = builder.scope(decoder.model);
    {
      auto layer = builder.scope(decoder.layer_list, index);
      normalize(builder, {}, "enorm", size, decoder.norm);
      normalize(builder, {}, "hnorm", size, decoder.norm);
      {
        auto join = builder.scope("eh_proj");
        builder.parameter("weight", {size, 2 * size});
      }
      normalize(builder, {}, "shared_head.norm", size, decoder.norm);
      if (copies) builder.copied_parameter("embed_tokens.weight", {decoder.vocab_size, size});
      if (copies) builder.copied_parameter("shared_head.head.weight", {decoder.vocab_size, size});
    }
    build_layer(builder, decoder, last, {}, index);
  }
}

Decoder deepseek_decoder(const ModelConfig& config, bool corrected, const std::function<Block(int64_t)>& mixer) {
  Decoder decoder = decoder_of(config);
  MixtureOfExperts experts = deepseek_experts(config, corrected);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    int64_t index = static_cast<int64_t>(i);
    decoder.layers[i].mixer = mixer(index);
    if (!is_dense(config, index)) decoder.layers[i].feed_forward = experts;
  }
  return decoder;
}

void build_deepseek(GraphBuilder& builder, const ModelConfig& config, bool corrected,
                    const std::function<Block(int64_t)>& mixer) {
  Decoder decoder = deepseek_decoder(config, corrected, mixer);
  build(builder, decoder);
  Layer last;
  last.mixer = mixer(static_cast<int64_t>(decoder.layers.size()));
  last.feed_forward = deepseek_experts(config, corrected);
  declare_prediction_layers(builder, config, decoder, last);
}

// Layers of indexer_types "shared" use the keys that the layer before them chose.
std::function<Block(int64_t)> deepseek3_mixer(const ModelConfig& config) {
  LatentAttention attention = latent_attention_of(config);
  LatentAttention sharing = attention;
  sharing.indexer.reset();
  return [attention, sharing, types = config.texts("indexer_types")](int64_t layer) {
    bool shares = static_cast<size_t>(layer) < types.size() && types[static_cast<size_t>(layer)] == "shared";
    return Block(shares ? sharing : attention);
  };
}

}  // namespace

void build_deepseek1(GraphBuilder& builder, const ModelConfig& config) {
  Attention attention = attention_of(config);
  build_deepseek(builder, config, false, [&](int64_t) { return Block(attention); });
}

void build_deepseek2(GraphBuilder& builder, const ModelConfig& config) {
  LatentAttention attention = latent_attention_of(config);
  build_deepseek(builder, config, false, [&](int64_t) { return Block(attention); });
}

Decoder deepseek3_decoder(const ModelConfig& config) {
  return deepseek_decoder(config, true, deepseek3_mixer(config));
}

void build_deepseek3(GraphBuilder& builder, const ModelConfig& config) {
  build_deepseek(builder, config, true, deepseek3_mixer(config));
}

void build_glm4_moe(GraphBuilder& builder, const ModelConfig& config) {
  Attention attention = attention_of(config);
  attention.qkv_bias = config.flag("attention_bias", false);
  if (config.flag("use_qk_norm", false)) attention.query_key_norm = QueryKeyNorm::kPerHead;
  build_deepseek(builder, config, true, [&](int64_t) { return Block(attention); });
}

}  // namespace kcharter
