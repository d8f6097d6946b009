// DeepSeek V4: compressed attention, several streams of hidden states mixed before and after each block
// (hyper-connections), experts in all layers, the first of which are chosen by the token's id. Names are
// those of the published checkpoints.
#include "import/architecture/compressed_attention.h"
#include "import/architecture/families/language_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

// Weights [count, streams·H] of the streams for one purpose, their bases and scales: f32.
struct Streams {
  int64_t count = 4;
  int64_t size = 0;

  std::vector<ValueId> parts(GraphBuilder& b, const std::string& name, int64_t weights, int64_t scales) const {
    std::vector<int64_t> stored = {weights, count * size};
    return {b.parameter(name + "_fn", stored, {count * size, weights}, DType::kF32),
            b.parameter(name + "_base", {weights}, {}, DType::kF32),
            b.parameter(name + "_scale", {scales}, {}, DType::kF32)};
  }
  ValueId mix(GraphBuilder& b, ValueId x, ValueId weights, const std::vector<ValueId>& parts) const {
    return b.ours("MixStreams", {x, weights, parts[1], parts[2]}, {attribute("size", size)});
  }
  // One weight of each stream: for the head.
  ValueId collect(GraphBuilder& b, ValueId x, const std::string& name) const {
    std::vector<ValueId> stored = parts(b, name, count, 1);
    return mix(b, x, b.op("MatMul", {x, stored[0]}), stored);
  }
  // Weights in, weights out, and the square in which streams mix.
  ValueId around(GraphBuilder& b, ValueId x, const std::string& name, const std::function<ValueId(ValueId)>& block) const {
    std::vector<ValueId> stored = parts(b, name, (2 + count) * count, 3);
    ValueId weights = b.op("MatMul", {x, stored[0]});
    ValueId y = block(mix(b, x, weights, stored));
    return b.ours("SpreadStreams", {x, y, weights}, {attribute("count", count)});
  }
};

MixtureOfExperts experts_at(const ModelConfig& config, bool hashed) {
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "ffn";
  experts.gate = "w1", experts.up = "w3", experts.down = "w2";
  if (!hashed) experts.correction_bias = "gate.bias";
  int64_t shared = config.integer("n_shared_experts", 0);
  if (shared <= 0) return experts;
  FeedForward part;
  part.name = "shared_experts";
  part.gate = "w1", part.up = "w3", part.down = "w2";
  part.hidden_size = experts.hidden_size;
  part.intermediate_size = experts.intermediate_size * shared;
  experts.shared = part;
  return experts;
}

struct Plan {
  ModelConfig config;
  Streams streams;
  CompressedAttention attention;
  std::vector<int64_t> ratios;
  int64_t hashed = 0;  // layers at the start
  int64_t vocab_size = 0;
};

ValueId build_block(GraphBuilder& b, const Plan& plan, ValueId x, int64_t index, bool hashed) {
  int64_t size = plan.streams.size;
  CompressedAttention attention = plan.attention;
  size_t place = static_cast<size_t>(index);
  attention.ratio = place < plan.ratios.size() ? plan.ratios[place] : 0;
  x = plan.streams.around(b, x, "hc_attn", [&](ValueId y) {
    return attention(b, normalize(b, y, "attn_norm", size, attention.norm), index);
  });
  if (hashed) {
    auto gate = b.scope("ffn.gate");
    b.buffer("tid2eid", {plan.vocab_size, plan.config.require("num_experts_per_tok")}, DType::kInt64);
  }
  MixtureOfExperts experts = experts_at(plan.config, hashed);
  return plan.streams.around(b, x, "hc_ffn", [&](ValueId y) {
    return experts(b, normalize(b, y, "ffn_norm", size, attention.norm), index);
  });
}

void declare_prediction_layers(GraphBuilder& b, const Plan& plan, int64_t layers) {
  GraphBuilder::Silence silence(b);
  int64_t size = plan.streams.size;
  for (int64_t i = 0; i < plan.config.integer("num_nextn_predict_layers", 0) && i < 64; ++i) {
    auto scope = b.scope("mtp", i);
    for (const char* norm : {"enorm", "hnorm", "norm"}) normalize(b, {}, norm, size, plan.attention.norm);
    for (const char* join : {"e_proj", "h_proj"}) linear(b, {}, {join, size, size});
    build_block(b, plan, {}, layers + i, false);
    plan.streams.collect(b, {}, "hc_head");
  }
}

}  // namespace

void build_deepseek4(GraphBuilder& b, const ModelConfig& config) {
  Plan plan;
  plan.config = config;
  plan.streams = {config.integer("hc_mult", 4), config.require("hidden_size")};
  if (plan.streams.count < 1 || plan.streams.count > 64) {
    throw Error("'hc_mult' is " + std::to_string(plan.streams.count));
  }
  plan.attention = compressed_attention_of(config);
  plan.ratios = config.integers("compress_ratios");
  plan.hashed = config.integer("num_hash_layers", 0);
  plan.vocab_size = config.require("vocab_size");
  int64_t layers = layers_of(config), size = plan.streams.size;
  ValueId ids = b.input("input_ids", DType::kInt64, {b.batch(), b.tokens()});
  ValueId embedded = embed(b, "embed", plan.vocab_size, size, ids).rows;
  ValueId x = b.op("Concat", std::vector<ValueId>(static_cast<size_t>(plan.streams.count), embedded),
                   {attribute("axis", int64_t{-1})});
  for (int64_t i = 0; i < layers; ++i) {
    auto scope = b.scope("layers", i);
    x = build_block(b, plan, x, i, i < plan.hashed);
  }
  if (!b.decode()) x = b.ours("LastToken", {x});
  x = plan.streams.collect(b, x, "hc_head");
  x = normalize(b, x, "norm", size, plan.attention.norm);
  b.output(linear(b, x, {"head", size, plan.vocab_size}));
  declare_prediction_layers(b, plan, layers);
}

}  // namespace kcharter
