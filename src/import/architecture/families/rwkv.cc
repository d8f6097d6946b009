// RWKV 4, 5 and 6: time mixing with a state of one size, channel mixing; both look at the token before.
#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"
#include "import/architecture/recurrent.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Rwkv {
  int64_t version = 4;
  int64_t hidden_size = 0, width = 0, heads = 0, head_size = 64, intermediate_size = 0;
  Norm norm;
  bool large() const { return hidden_size >= 4096; }  // ranks of version 6 double there
};

Rwkv rwkv_of(const ModelConfig& config, int64_t version) {
  Rwkv part;
  part.version = version;
  part.hidden_size = config.require("hidden_size");
  part.width = config.integer("attention_hidden_size", part.hidden_size);
  part.head_size = config.integer("head_size", config.integer("head_dim", 64));
  if (part.head_size < 1) throw Error("'head_size' is " + std::to_string(part.head_size));
  part.heads = part.width / part.head_size;
  int64_t wide = version == 4 ? 4 * part.hidden_size : part.hidden_size * 7 / 2 / 32 * 32;
  part.intermediate_size = config.integer("intermediate_size", wide);
  part.norm = {.kind = NormKind::kLayer, .epsilon = config.number("layer_norm_epsilon", 1e-5)};
  return part;
}

// The token before is kept; each use mixes it with the token by factors of its own.
ValueId shift(GraphBuilder& b, ValueId x, const Rwkv& part, const std::string& factors, const char* name, int64_t layer) {
  auto cache = state_cache(b, layer, name, {part.hidden_size, 1}, std::nullopt);
  return b.cached("CausalConvolution", {x, b.parameter(factors, {1, 1, part.hidden_size})}, 1, {cache},
                  {attribute("channels", part.hidden_size), attribute("kernel", int64_t{2})}).outputs[0];
}

ValueId mix(GraphBuilder& b, ValueId x, const Rwkv& part, const std::string& factors) {
  return b.op("Mul", {x, b.parameter(factors, {1, 1, part.hidden_size})});
}

// Version 6 makes the factors and the decay depend on the token, through small matrices.
std::vector<ValueId> mixed_by_token(GraphBuilder& b, ValueId x, const Rwkv& part, int64_t layer) {
  int64_t size = part.hidden_size, rank = part.large() ? 64 : 32;
  ValueId y = shift(b, x, part, "time_maa_x", "shift", layer);
  ValueId low = activate(b, b.op("MatMul", {y, b.parameter("time_maa_w1", {size, 5 * rank})}), "tanh");
  low = b.reshape(low, {0, 0, 5, 1, rank});
  low = b.op("MatMul", {low, b.parameter("time_maa_w2", {5, rank, size})});
  low = b.reshape(low, {0, 0, 5 * size});
  std::vector<ValueId> parts = b.split(low, std::vector<int64_t>(5, size));
  const char* names[] = {"time_maa_w", "time_maa_k", "time_maa_v", "time_maa_r", "time_maa_g"};
  for (size_t i = 0; i < 5; ++i) parts[i] = b.op("Add", {parts[i], mix(b, y, part, names[i])});
  return parts;
}

ValueId decay_of_token(GraphBuilder& b, ValueId x, const Rwkv& part) {
  int64_t rank = part.large() ? 128 : 64;
  ValueId low = activate(b, b.op("MatMul", {x, b.parameter("time_decay_w1", {part.hidden_size, rank})}), "tanh");
  low = b.op("MatMul", {low, b.parameter("time_decay_w2", {rank, part.width})});
  return b.op("Add", {low, b.parameter("time_decay", {1, 1, part.width})});
}

ValueId mix_time(GraphBuilder& b, ValueId x, const Rwkv& part, int64_t layer) {
  auto scope = b.scope("attention");
  int64_t size = part.hidden_size, width = part.width;
  bool many = part.version > 4;
  ValueId decay, key, value, receptance, gate;
  if (part.version == 6) {
    std::vector<ValueId> parts = mixed_by_token(b, x, part, layer);
    decay = decay_of_token(b, parts[0], part);
    key = parts[1], value = parts[2], receptance = parts[3], gate = parts[4];
  } else {
    key = shift(b, x, part, "time_mix_key", "shift", layer);
    value = mix(b, key, part, "time_mix_value");
    receptance = mix(b, key, part, "time_mix_receptance");
    if (many) gate = mix(b, key, part, "time_mix_gate");
    decay = many ? b.parameter("time_decay", {part.heads, part.head_size}) : b.parameter("time_decay", {width});
  }
  ValueId first = many ? b.parameter("time_faaaa", {part.heads, part.head_size}) : b.parameter("time_first", {width});
  key = linear(b, key, {"key", size, width});
  value = linear(b, value, {"value", size, width});
  receptance = linear(b, receptance, {"receptance", size, width});
  // Version 4 keeps a numerator, a denominator and the largest exponent of each channel.
  Recurrence rule{"TimeMix", {3, width}, width, 1, DType::kF32};
  if (many) rule = {"TimeMix", {part.heads, part.head_size, part.head_size}, width, 2, DType::kF32};
  ValueId y = recur(b, {receptance, key, value, decay, first}, rule, layer);
  if (many) {
    y = normalize(b, y, "ln_x", width, part.norm);
    y = b.op("Mul", {y, activate(b, linear(b, gate, {"gate", size, width}), "silu")});
  } else {
    y = b.op("Mul", {b.op("Sigmoid", {receptance}), y});
  }
  return linear(b, y, {"output", width, size});
}

ValueId mix_channels(GraphBuilder& b, ValueId x, const Rwkv& part, int64_t layer) {
  auto scope = b.scope("feed_forward");
  int64_t size = part.hidden_size;
  bool by_token = part.version == 6;
  ValueId key = shift(b, x, part, by_token ? "time_maa_k" : "time_mix_key", "channel_shift", layer);
  ValueId receptance = mix(b, key, part, by_token ? "time_maa_r" : "time_mix_receptance");
  key = activate(b, linear(b, key, {"key", size, part.intermediate_size}), "relu2");
  ValueId value = linear(b, key, {"value", part.intermediate_size, size});
  return b.op("Mul", {b.op("Sigmoid", {linear(b, receptance, {"receptance", size, size})}), value});
}

void build_version(GraphBuilder& builder, const ModelConfig& config, int64_t version) {
  Rwkv part = rwkv_of(config, version);
  Decoder decoder;
  decoder.model = "rwkv";
  decoder.layer_list = "blocks";
  decoder.embedding = "embeddings";
  decoder.final_norm = "ln_out";
  decoder.head = "head";
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = part.hidden_size;
  decoder.norm = part.norm;
  decoder.tied = config.flag("tie_word_embeddings", false);
  Layer layer;
  layer.mixer = [part](GraphBuilder& b, ValueId x, int64_t index) { return mix_time(b, x, part, index); };
  layer.feed_forward = [part](GraphBuilder& b, ValueId x, int64_t index) { return mix_channels(b, x, part, index); };
  layer.mixer_norm = "ln1";
  layer.feed_forward_norm = "ln2";
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  // The embedding's norm is stored with the first block.
  decoder.before_layers = [](GraphBuilder& b, const Decoder& d, ValueId, ValueId x) {
    return normalize(b, x, "blocks.0.pre_ln", d.hidden_size, d.norm);
  };
  build(builder, decoder);
}

}  // namespace

// The class of versions 4 and 5 has one name.
void build_rwkv(GraphBuilder& builder, const ModelConfig& config) {
  build_version(builder, config, config.text("model_type") == "rwkv5" || config.has("head_size") ? 5 : 4);
}

void build_rwkv6(GraphBuilder& builder, const ModelConfig& config) { build_version(builder, config, 6); }

}  // namespace kcharter
