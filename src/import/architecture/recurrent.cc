#include "import/architecture/recurrent.h"

namespace kcharter {

GraphBuilder::CacheSpec state_cache(const GraphBuilder& builder, int64_t layer, std::string_view part,
                                    const std::vector<int64_t>& dims, std::optional<DType> dtype) {
  GraphBuilder::CacheSpec cache;
  cache.name = "past_key_values." + std::to_string(layer) + "." + std::string(part);
  cache.kind = CacheKind::kState;
  cache.past = {builder.batch()};
  for (int64_t dim : dims) cache.past.emplace_back(dim);
  cache.present = cache.allocated = cache.past;
  cache.dtype = dtype;
  return cache;
}

ValueId causal_convolution(GraphBuilder& builder, ValueId x, std::string_view name, int64_t channels,
                           int64_t kernel, bool bias, std::string_view activation, int64_t layer,
                           std::string_view part) {
  auto scope = builder.scope(name);
  std::vector<ValueId> inputs = {x, builder.parameter("weight", {channels, 1, kernel})};
  inputs.push_back(bias ? builder.parameter("bias", {channels}) : ValueId());
  ValueId y = builder.cached("CausalConvolution", inputs, 1,
                             {state_cache(builder, layer, part, {channels, kernel - 1}, std::nullopt)},
                             {attribute("channels", channels), attribute("kernel", kernel)}).outputs[0];
  return activation.empty() ? y : activate(builder, y, activation);
}

ValueId recur(GraphBuilder& builder, std::vector<ValueId> inputs, const Recurrence& recurrence, int64_t layer) {
  auto cache = state_cache(builder, layer, "state", recurrence.state, recurrence.dtype);
  return builder.cached(recurrence.op_type, std::move(inputs), 1, {cache},
                        {attribute("state", recurrence.state), attribute("width", recurrence.width),
                         attribute("products", recurrence.products)}).outputs[0];
}

ValueId normalize_groups(GraphBuilder& builder, ValueId x, std::string_view name, int64_t heads, int64_t size,
                         const Norm& norm) {
  ValueId split = builder.reshape(x, {0, 0, heads, size});
  return builder.reshape(normalize(builder, split, name, size, norm), {0, 0, heads * size});
}

ValueId GatedDeltaNet::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name);
  int64_t keys = key_heads * key_dim, values = value_heads * value_dim;
  ValueId qkv, gate, beta, step;
  if (fused) {
    ValueId all = linear(builder, x, {"in_proj_qkvz", hidden_size, 2 * keys + 2 * values});
    std::vector<ValueId> parts = builder.split(all, {2 * keys + values, values});
    qkv = parts[0], gate = parts[1];
    parts = builder.split(linear(builder, x, {"in_proj_ba", hidden_size, 2 * value_heads}), {value_heads, value_heads});
    beta = parts[0], step = parts[1];
  } else {
    qkv = linear(builder, x, {"in_proj_qkv", hidden_size, 2 * keys + values});
    gate = linear(builder, x, {"in_proj_z", hidden_size, values});
    beta = linear(builder, x, {"in_proj_b", hidden_size, value_heads});
    step = linear(builder, x, {"in_proj_a", hidden_size, value_heads});
  }
  qkv = causal_convolution(builder, qkv, "conv1d", 2 * keys + values, kernel, false, "silu", layer);
  std::vector<ValueId> parts = builder.split(qkv, {keys, keys, values});
  std::vector<ValueId> inputs = {parts[0], parts[1], parts[2], beta, step};
  inputs.push_back(builder.parameter("A_log", {value_heads}, {}, decay_dtype));
  inputs.push_back(builder.parameter("dt_bias", {value_heads}));
  Recurrence rule{"GatedDeltaRule", {value_heads, key_dim, value_dim}, values, 3, DType::kF32};
  ValueId y = recur(builder, std::move(inputs), rule, layer);
  y = normalize_groups(builder, y, "norm", value_heads, value_dim, norm);
  y = builder.op("Mul", {y, activate(builder, gate, "silu")});
  return linear(builder, y, {"out_proj", values, hidden_size});
}

GatedDeltaNet gated_delta_net_of(const ModelConfig& config) {
  GatedDeltaNet part;
  part.hidden_size = config.require("hidden_size");
  part.key_heads = config.integer("linear_num_key_heads", 16);
  part.value_heads = config.integer("linear_num_value_heads", 32);
  part.key_dim = config.integer("linear_key_head_dim", 128);
  part.value_dim = config.integer("linear_value_head_dim", 128);
  part.kernel = config.integer("linear_conv_kernel_dim", 4);
  part.norm = {.kind = NormKind::kRms, .epsilon = config.number("rms_norm_eps", 1e-6)};
  if (config.has("mamba_ssm_dtype")) part.decay_dtype = part.norm.dtype = parse_dtype(config.text("mamba_ssm_dtype"));
  return part;
}

ValueId Mamba1::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name);
  ValueId both = linear(builder, x, {"in_proj", hidden_size, 2 * inner_size, projection_bias});
  std::vector<ValueId> parts = builder.split(both, {inner_size, inner_size});
  ValueId gate = parts[1];
  ValueId u = causal_convolution(builder, parts[0], "conv1d", inner_size, kernel, convolution_bias, "silu", layer);
  ValueId projected = linear(builder, u, {"x_proj", inner_size, step_rank + 2 * state_size});
  parts = builder.split(projected, {step_rank, state_size, state_size});
  if (inner_norms) {
    parts[0] = normalize(builder, parts[0], "dt_layernorm", step_rank, norm);
    parts[1] = normalize(builder, parts[1], "b_layernorm", state_size, norm);
    parts[2] = normalize(builder, parts[2], "c_layernorm", state_size, norm);
  }
  ValueId step = linear(builder, parts[0], {"dt_proj", step_rank, inner_size, true});
  std::vector<ValueId> inputs = {u, step, parts[1], parts[2], builder.parameter("A_log", {inner_size, state_size}),
                                 builder.parameter("D", {inner_size})};
  ValueId y = recur(builder, std::move(inputs), {"SelectiveScan", {inner_size, state_size}, inner_size, 2, {}}, layer);
  y = builder.op("Mul", {y, activate(builder, gate, "silu")});
  return linear(builder, y, {"out_proj", inner_size, hidden_size, projection_bias});
}

ValueId Mamba2::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name);
  int64_t inner = heads * head_dim, convolved = inner + 2 * groups * state_size;
  ValueId all = linear(builder, x, {"in_proj", hidden_size, inner + convolved + heads, projection_bias});
  std::vector<ValueId> parts = builder.split(all, {inner, convolved, heads});
  ValueId gate = parts[0], step = parts[2];
  ValueId u = causal_convolution(builder, parts[1], "conv1d", convolved, kernel, convolution_bias, "silu", layer);
  parts = builder.split(u, {inner, groups * state_size, groups * state_size});
  std::vector<ValueId> inputs = {parts[0], step, parts[1], parts[2], builder.parameter("A_log", {heads}),
                                 builder.parameter("D", {heads}), builder.parameter("dt_bias", {heads})};
  ValueId y = recur(builder, std::move(inputs), {"SelectiveScan", {heads, head_dim, state_size}, inner, 2, state_dtype}, layer);
  y = builder.op("Mul", {y, activate(builder, gate, "silu")});
  if (gated_norm) y = normalize(builder, y, "norm", inner, norm);
  return linear(builder, y, {"out_proj", inner, hidden_size, projection_bias});
}

}  // namespace kcharter
