#include "import/architecture/mixture_of_experts.h"

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr int64_t kMostExperts = 65'536;

struct Routed {
  ValueId weights, experts;
};

Routed route(GraphBuilder& builder, ValueId x, const MixtureOfExperts& part) {
  ValueId scores;
  {
    auto scope = builder.scope(part.router);
    ValueId weight = builder.parameter("weight", {part.experts, part.hidden_size},
                                       {part.hidden_size, part.experts}, part.router_dtype);
    scores = builder.op("MatMul", {x, weight});
    if (part.router_bias) scores = builder.op("Add", {scores, builder.parameter("bias", {part.experts})});
  }
  std::vector<ValueId> inputs = {scores};
  if (!part.correction_bias.empty()) {
    inputs.push_back(part.correction_is_parameter
                         ? builder.parameter(part.correction_bias, {part.experts}, {}, DType::kF32)
                         : builder.buffer_value(part.correction_bias, {part.experts}, DType::kF32));
  }
  std::vector<ValueId> routed = builder.ours("Route", std::move(inputs), 2, {attribute("k", part.chosen)});
  return {routed[0], routed[1]};
}

// One matrix of every expert: y = x · W[expert].
ValueId expert_matmul(GraphBuilder& builder, ValueId x, ValueId experts, const MixtureOfExperts& part,
                      const std::string& name, int64_t in, int64_t out) {
  std::vector<ValueId> inputs = {x, experts};
  auto add = [&](ValueId value) {
    builder.active_share(value, part.chosen, part.experts);
    inputs.push_back(value);
  };
  if (part.stacked_flat) {
    int64_t rows = part.experts * part.intermediate_size;
    add(builder.parameter(name, {rows, part.hidden_size}, {part.experts, in, out}));
  } else if (part.stacked) {
    for (ValueId value : builder.stacked_matrix(name, part.stacked_suffix, part.experts, in, out,
                                                part.stacked_in_out)) {
      add(value);
    }
    if (part.biases) add(builder.parameter(name + "_bias", {part.experts, out}));
  } else {
    for (int64_t i = 0; i < part.experts; ++i) {
      auto scope = builder.scope(part.expert_prefix + std::to_string(i) + "." + name);
      for (ValueId value : builder.matrix(in, out).parts) add(value);
      if (part.biases) add(builder.parameter("bias", {out}));
    }
  }
  return builder.ours("ExpertMatMul", std::move(inputs),
                      {attribute("num_experts", part.experts), attribute("k", part.chosen),
                       attribute("in", in), attribute("out", out),
                       attribute("stacked", int64_t{part.stacked})});
}

ValueId run_experts(GraphBuilder& builder, ValueId x, const Routed& routed, const MixtureOfExperts& part) {
  auto scope = builder.scope(part.expert_list);
  int64_t outer = part.latent_size > 0 ? part.latent_size : part.hidden_size;
  int64_t inner = part.intermediate_size;
  auto matmul = [&](ValueId value, const std::string& name, int64_t in, int64_t out) {
    return expert_matmul(builder, value, routed.experts, part, name, in, out);
  };
  ValueId y;
  if (part.fused) {
    std::vector<ValueId> halves = builder.split(matmul(x, part.up, outer, 2 * inner), {inner, inner});
    y = builder.op("Mul", {activate(builder, halves[0], part.activation), halves[1]});
  } else if (part.gate.empty()) {
    y = activate(builder, matmul(x, part.up, outer, inner), part.activation);
  } else {
    ValueId gated = activate(builder, matmul(x, part.gate, outer, inner), part.activation);
    y = builder.op("Mul", {gated, matmul(x, part.up, outer, inner)});
  }
  y = matmul(y, part.down, inner, outer);
  return builder.ours("CombineExperts", {y, routed.weights});
}

}  // namespace

ValueId MixtureOfExperts::run(GraphBuilder& builder, ValueId for_router, ValueId for_experts) const {
  return run_experts(builder, for_experts, route(builder, for_router, *this), *this);
}

ValueId MixtureOfExperts::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name, class_name);
  Routed routed = route(builder, x, *this);
  ValueId into = x;
  if (latent_size > 0) into = linear(builder, x, {latent_in, hidden_size, latent_size});
  ValueId y = run_experts(builder, into, routed, *this);
  if (latent_size > 0) {
    if (!latent_norm.empty()) y = normalize(builder, y, latent_norm, latent_size, {});
    y = linear(builder, y, {latent_out, latent_size, hidden_size});
  }
  if (!shared) return y;
  ValueId common = (*shared)(builder, x, layer);
  if (!shared_gate.empty()) {
    ValueId open = builder.op("Sigmoid", {linear(builder, x, {shared_gate, hidden_size, 1})});
    common = builder.op("Mul", {common, open});
  }
  return builder.op("Add", {y, common});
}

MixtureOfExperts mixture_of(const ModelConfig& config) {
  MixtureOfExperts part;
  part.hidden_size = config.require("hidden_size");
  part.intermediate_size = config.integer("moe_intermediate_size", config.integer("intermediate_size", 0));
  part.experts = config.require("num_experts");
  part.chosen = config.require("num_experts_per_tok");
  part.activation = config.text("hidden_act", "silu");
  if (part.experts < 1 || part.experts > kMostExperts || part.chosen < 1 || part.chosen > part.experts) {
    throw Error("'num_experts' is " + std::to_string(part.experts) + ", 'num_experts_per_tok' " +
                std::to_string(part.chosen));
  }
  return part;
}

}  // namespace kcharter
