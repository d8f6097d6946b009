// Kimi Linear and K3: layers of the delta rule with a decay for each channel (Kimi delta attention, arXiv
// 2510.26692) and layers of latent attention without rotation; experts after the first layers. K3's experts
// work in a smaller space, its gates have full rank, and blocks read a mixture of earlier residuals. K2.5 is
// DeepSeek 3 behind the same vision tower.
#include <algorithm>

#include "import/architecture/families/families.h"
#include "import/architecture/families/kimi_vision.h"
#include "import/architecture/families/language_families.h"
#include "import/architecture/recurrent.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct KimiDeltaAttention {
  int64_t hidden_size = 0, heads = 0, head_dim = 128, kernel = 4;
  bool full_rank_gate = false;
  Norm norm;
  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
};

// A decay or a gate through `rank` channels: "<name>_a_proj", "<name>_b_proj".
ValueId low_rank(GraphBuilder& b, ValueId x, const std::string& name, int64_t in, int64_t rank, int64_t out) {
  return linear(b, linear(b, x, {name + "_a_proj", in, rank}), {name + "_b_proj", rank, out});
}

ValueId KimiDeltaAttention::operator()(GraphBuilder& b, ValueId x, int64_t layer) const {
  auto scope = b.scope("self_attn");
  int64_t width = heads * head_dim;
  std::vector<ValueId> inputs;
  for (const char* part : {"q", "k", "v"}) {
    std::string name = part;
    ValueId y = linear(b, x, {name + "_proj", hidden_size, width});
    inputs.push_back(causal_convolution(b, y, name + "_conv1d", width, kernel, false, "silu", layer, name + "_conv"));
  }
  inputs.push_back(low_rank(b, x, "f", hidden_size, head_dim, width));
  inputs.push_back(linear(b, x, {"b_proj", hidden_size, heads}));
  // K3 pads its decays to whole rows of 128 heads.
  std::vector<int64_t> decays = {1, 1, heads, 1};
  if (full_rank_gate) decays = {(heads + 127) / 128 * 128};
  inputs.push_back(b.parameter("A_log", decays, {}, DType::kF32));
  inputs.push_back(b.parameter("dt_bias", {width}, {}, DType::kF32));
  Recurrence rule{"KimiDeltaRule", {heads, head_dim, head_dim}, width, 3, DType::kF32};
  ValueId y = recur(b, std::move(inputs), rule, layer);
  ValueId gate = full_rank_gate ? linear(b, x, {"g_proj", hidden_size, width})
                                : low_rank(b, x, "g", hidden_size, head_dim, width);
  y = normalize_groups(b, y, "o_norm", heads, head_dim, norm);
  y = b.op("Mul", {y, b.op("Sigmoid", {gate})});
  return linear(b, y, {"o_proj", width, hidden_size});
}

KimiDeltaAttention delta_attention_of(const ModelConfig& config) {
  ModelConfig own = config.section("linear_attn_config");
  KimiDeltaAttention part;
  part.hidden_size = config.require("hidden_size");
  part.heads = own.require("num_attention_heads");
  part.head_dim = own.integer("head_dim", 128);
  part.kernel = own.integer("short_conv_kernel_size", 4);
  part.full_rank_gate = own.flag("use_full_rank_gate", false);
  part.norm = rms_norm_of(config);
  return part;
}

// K3's "situ" keeps a product of two bounded functions: counted as silu.
std::string activation_of(const ModelConfig& config) {
  std::string name = config.text("hidden_act", "silu");
  return name == "situ" ? "silu" : name;
}

Block experts_of(const ModelConfig& config) {
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "block_sparse_moe";
  experts.gate = "w1", experts.up = "w3", experts.down = "w2";
  experts.activation = activation_of(config);
  experts.correction_bias = "gate.e_score_correction_bias";
  experts.correction_is_parameter = true;
  experts.latent_size = config.integer("routed_expert_hidden_size", 0);
  experts.latent_in = "routed_expert_down_proj";
  experts.latent_out = "routed_expert_up_proj";
  if (config.flag("latent_moe_use_norm", false)) experts.latent_norm = "routed_expert_norm";
  int64_t shared = config.integer("num_shared_experts", 0);
  if (shared > 0) {
    FeedForward part = feed_forward_of(config);
    part.name = "shared_experts";
    part.activation = experts.activation;
    part.intermediate_size = experts.intermediate_size * shared;
    experts.shared = part;
  }
  return experts;
}

// The residuals kept at the start of every `size`-th layer, mixed anew before each block.
struct ResidualBank {
  int64_t size = 0;  // 0: plain residuals
  std::vector<ValueId> kept;

  ValueId mix(GraphBuilder& b, ValueId x, const std::string& name, int64_t width) const {
    if (size == 0) return x;
    ValueId norm, score;
    {
      auto scope = b.scope(name + "_norm");
      norm = b.parameter("weight", {width});
    }
    {
      auto scope = b.scope(name + "_proj");
      score = b.parameter("weight", {1, width});
    }
    std::vector<ValueId> inputs = {x, norm, score};
    inputs.insert(inputs.end(), kept.begin(), kept.end());
    return b.ours("MixResiduals", std::move(inputs));
  }
};

struct KimiLayer {
  Block mixer, feed_forward;
};

ValueId build_kimi_layer(GraphBuilder& b, const Decoder& decoder, const KimiLayer& layer, ResidualBank& bank,
                         ValueId x, int64_t index) {
  auto scope = b.scope("layers", index);
  int64_t size = decoder.hidden_size;
  ValueId into = bank.mix(b, x, "self_attention_res", size);
  bool starts = bank.size > 0 && index % bank.size == 0;
  if (starts) bank.kept.push_back(x);
  ValueId y = layer.mixer(b, normalize(b, into, "input_layernorm", size, decoder.norm), index);
  x = starts ? y : b.op("Add", {x, y});
  into = bank.mix(b, x, "mlp_res", size);
  y = layer.feed_forward(b, normalize(b, into, "post_attention_layernorm", size, decoder.norm), index);
  return b.op("Add", {x, y});
}

bool holds(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::vector<KimiLayer> kimi_layers(const ModelConfig& config) {
  LatentAttention attention = latent_attention_of(config);
  attention.rotary = !config.flag("mla_use_nope", false);
  if (config.flag("mla_use_output_gate", false)) attention.output_gate = "g_proj";
  KimiDeltaAttention delta = delta_attention_of(config);
  FeedForward dense = feed_forward_of(config);
  dense.activation = activation_of(config);
  // Layers are counted from one there.
  std::vector<int64_t> deltas = config.section("linear_attn_config").integers("kda_layers");
  int64_t first = config.integer("first_k_dense_replace", 0), step = config.integer("moe_layer_freq", 1);
  std::vector<KimiLayer> layers;
  for (int64_t i = 0; i < layers_of(config); ++i) {
    bool routed = config.integer("num_experts", 0) > 0 && i >= first && (step < 1 || i % step == 0);
    layers.push_back({holds(deltas, i + 1) ? Block(delta) : Block(attention), routed ? experts_of(config) : Block(dense)});
  }
  return layers;
}

void build_kimi(GraphBuilder& b, const ModelConfig& config, Decoder decoder) {
  decoder.layers.clear();
  ResidualBank bank;
  bank.size = config.integer("attn_res_block_size", 0);
  decoder.before_layers = [&config, &bank, before = decoder.before_layers](GraphBuilder& g, const Decoder& d, ValueId ids, ValueId x) {
    if (before) x = before(g, d, ids, x);
    int64_t index = 0;
    for (const KimiLayer& layer : kimi_layers(config)) x = build_kimi_layer(g, d, layer, bank, x, index++);
    return bank.mix(g, x, "output_attn_res", d.hidden_size);
  };
  build(b, decoder);
}

}  // namespace

void build_kimi_linear(GraphBuilder& builder, const ModelConfig& config) {
  build_kimi(builder, config, decoder_of(config));
}

void build_kimi_k3(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.section("text_config");
  Decoder decoder = decoder_of(text);
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
  add_kimi_tower(builder, decoder, config);
  build_kimi(builder, text, std::move(decoder));
}

void build_kimi_k25(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = deepseek3_decoder(config.section("text_config"));
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
  add_kimi_tower(builder, decoder, config);
  build(builder, decoder);
}

}  // namespace kcharter
