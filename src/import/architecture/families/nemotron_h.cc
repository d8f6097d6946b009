// Nemotron-H and Nemotron 3: each layer is one block: Mamba 2, attention, feed-forward or experts.
#include "import/architecture/families/families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

Mamba2 mamba_block(const ModelConfig& config) {
  Mamba2 part;
  part.hidden_size = config.require("hidden_size");
  part.heads = config.require("mamba_num_heads");
  part.head_dim = config.integer("mamba_head_dim", 64);
  part.state_size = config.integer("ssm_state_size", 128);
  part.groups = config.integer("n_groups", 8);
  part.kernel = config.integer("conv_kernel", 4);
  part.convolution_bias = config.flag("use_conv_bias", true);
  part.projection_bias = config.flag("mamba_proj_bias", false);
  part.norm = {.kind = NormKind::kRms, .epsilon = config.number("layer_norm_epsilon", 1e-5)};
  part.state_dtype = parse_dtype(config.text("mamba_ssm_cache_dtype"));
  return part;
}

FeedForward plain_block(const ModelConfig& config, const char* name, int64_t size) {
  FeedForward part;
  part.name = name;
  part.gate.clear();
  part.hidden_size = config.require("hidden_size");
  part.intermediate_size = size;
  part.activation = config.text("mlp_hidden_act", "relu2");
  part.up_bias = part.down_bias = config.flag("mlp_bias", false);
  return part;
}

MixtureOfExperts expert_block(const ModelConfig& config) {
  MixtureOfExperts part = mixture_of(config);
  part.name = "mixer";
  part.gate.clear();
  part.activation = config.text("mlp_hidden_act", "relu2");
  part.correction_bias = "gate.e_score_correction_bias";
  part.latent_size = config.integer("moe_latent_size", 0);
  part.latent_in = "fc1_latent_proj";
  part.latent_out = "fc2_latent_proj";
  int64_t shared = config.integer("moe_shared_expert_intermediate_size", 0);
  if (shared > 0) part.shared = plain_block(config, "shared_experts", shared * config.integer("n_shared_experts", 1));
  return part;
}

// "M*-E" as words.
std::vector<std::string> block_types(const ModelConfig& config, const char* words, const char* letters) {
  std::vector<std::string> types = config.texts(words);
  if (!types.empty()) return types;
  for (char letter : config.text(letters)) {
    types.push_back(letter == 'M' ? "mamba" : letter == '*' ? "attention" : letter == 'E' ? "moe" : "mlp");
  }
  return types;
}

Block block_of(const ModelConfig& config, const std::string& type) {
  if (type == "mamba") return mamba_block(config);
  if (type == "moe") return expert_block(config);
  if (type == "mlp") return plain_block(config, "mixer", config.require("intermediate_size"));
  if (type != "attention") throw Error("layer type '" + type + "' is not known");
  Attention attention = attention_of(config);
  attention.name = "mixer";
  attention.rotary = false;
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  return attention;
}

// A joining projection in the first layer, a norm after the last.
void declare_prediction_layers(GraphBuilder& builder, const ModelConfig& config, const Decoder& decoder) {
  GraphBuilder::Silence silence(builder);
  std::vector<std::string> types = block_types(config, "mtp_layers_block_type", "mtp_hybrid_override_pattern");
  if (config.integer("num_nextn_predict_layers", 0) <= 0) return;
  auto scope = builder.scope("mtp");
  for (size_t i = 0; i < types.size(); ++i) {
    auto layer = builder.scope("layers", static_cast<int64_t>(i));
    if (i == 0) {
      normalize(builder, {}, "enorm", decoder.hidden_size, decoder.norm);
      normalize(builder, {}, "hnorm", decoder.hidden_size, decoder.norm);
      linear(builder, {}, {"eh_proj", 2 * decoder.hidden_size, decoder.hidden_size});
    }
    normalize(builder, {}, "norm", decoder.hidden_size, decoder.norm);
    block_of(config, types[i])(builder, {}, static_cast<int64_t>(i));
    if (i + 1 == types.size()) normalize(builder, {}, "final_layernorm", decoder.hidden_size, decoder.norm);
  }
}

}  // namespace

void build_nemotron_h(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder;
  decoder.model = "backbone";
  decoder.embedding = "embeddings";
  decoder.final_norm = "norm_f";
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.norm = {.kind = NormKind::kRms, .epsilon = config.number("layer_norm_epsilon", 1e-5)};
  decoder.tied = config.flag("tie_word_embeddings", false);
  for (const std::string& type : block_types(config, "layers_block_type", "hybrid_override_pattern")) {
    Layer layer;
    layer.mixer = block_of(config, type);
    layer.mixer_norm = "norm";
    decoder.layers.push_back(std::move(layer));
  }
  if (decoder.layers.empty()) throw Error("'hybrid_override_pattern' is missing");
  build(builder, decoder);
  declare_prediction_layers(builder, config, decoder);
}

}  // namespace kcharter
