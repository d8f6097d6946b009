#include "import/architecture/attention.h"

#include <algorithm>

namespace kcharter {

std::vector<GraphBuilder::CacheSpec> key_value_cache(const GraphBuilder& builder, int64_t layer,
                                                     const Attention& attention) {
  Expr past = builder.past();
  Expr present = past + builder.tokens();
  Expr allocated = Expr::variable(kMaxLength);
  if (attention.window) {
    past = min(past, Expr(*attention.window - 1));
    present = min(present, Expr(*attention.window));
    allocated = min(allocated, Expr(*attention.window));
  } else if (attention.chunk) {
    // Decode needs those of the chunk begun; prefill leaves the last chunk's behind.
    present = builder.decode() ? mod(past, Expr(*attention.chunk)) + 1 : min(present, Expr(*attention.chunk));
    past = mod(past, Expr(*attention.chunk));
    allocated = min(allocated, Expr(*attention.chunk));
  }
  Expr kv_heads(attention.kv_heads);
  auto spec = [&](const char* part, int64_t width) {
    GraphBuilder::CacheSpec cache;
    cache.name = "past_key_values." + std::to_string(layer) + "." + part;
    cache.past = {builder.batch(), kv_heads, past, Expr(width)};
    cache.present = {builder.batch(), kv_heads, present, Expr(width)};
    cache.allocated = {builder.batch(), kv_heads, allocated, Expr(width)};
    cache.sequence_axis = 2;
    return cache;
  };
  return {spec("key", attention.head_dim),
          spec("value", attention.value_head_dim.value_or(attention.head_dim))};
}

namespace {

struct Projected {
  ValueId query, key, value, gate;
};

void declare_unused(GraphBuilder& builder, const Attention& part, int64_t keys, int64_t values) {
  GraphBuilder::Silence silence(builder);
  linear(builder, {}, {part.key, part.hidden_size, keys, part.qkv_bias});
  linear(builder, {}, {part.value, part.hidden_size, values, part.qkv_bias});
  if (part.query_key_norm != QueryKeyNorm::kNone) normalize(builder, {}, part.key_norm, part.head_dim, part.norm);
}

Projected project(GraphBuilder& builder, ValueId x, const Attention& part, int64_t value_dim) {
  int64_t q = part.heads * part.head_dim;
  int64_t k = part.kv_heads * part.head_dim;
  int64_t v = part.kv_heads * value_dim;
  auto matrix = [&](const std::string& name, int64_t out) {
    bool bias = part.qkv_bias && (part.key_bias || name != part.key);
    return Linear{name, part.hidden_size, out, bias, part.stored_in_out};
  };
  if (part.fused.empty()) {
    Projected all;
    all.query = linear(builder, x, matrix(part.query, part.gated ? 2 * q : q));
    if (part.gated) {
      std::vector<ValueId> halves = builder.split(all.query, {q, q});
      all.query = halves[0], all.gate = halves[1];
    }
    if (part.shared_with) {
      if (part.keeps_unused) declare_unused(builder, part, k, v);
      return all;
    }
    all.key = linear(builder, x, matrix(part.key, k));
    all.value = part.value_is_key ? all.key : linear(builder, x, matrix(part.value, v));
    return all;
  }
  std::vector<ValueId> parts =
      builder.split(linear(builder, x, matrix(part.fused, q + k + v)), {q, k, v});
  return {parts[0], parts[1], parts[2], ValueId()};
}

ValueId normalize_heads(GraphBuilder& builder, ValueId x, const Attention& part,
                        const std::string& name, int64_t heads) {
  if (part.query_key_norm == QueryKeyNorm::kNone) return x;
  int64_t width = heads * part.head_dim;
  if (part.query_key_norm == QueryKeyNorm::kWhole) {
    return normalize(builder, x, name, width, part.norm);
  }
  ValueId split = builder.reshape(x, {0, 0, heads, part.head_dim});
  ValueId normal;
  if (part.query_key_norm == QueryKeyNorm::kPerHead) {
    normal = normalize(builder, split, name, part.head_dim, part.norm);
  } else {
    auto scope = builder.scope(name);
    std::vector<ValueId> inputs = {split};
    if (part.query_key_norm == QueryKeyNorm::kTable) {
      inputs.push_back(builder.parameter("weight", {heads, part.head_dim}));
    }
    for (int64_t i = 0; part.query_key_norm == QueryKeyNorm::kEachHead && i < heads; ++i) {
      inputs.push_back(builder.parameter("norms." + std::to_string(i) + ".weight", {part.head_dim}));
    }
    normal = builder.ours("LayerNormalization", std::move(inputs));
  }
  return builder.reshape(normal, {0, 0, width});
}

ValueId rotate(GraphBuilder& builder, ValueId x, const Attention& part, int64_t heads) {
  if (!part.rotary) return x;
  return builder.ours("RotaryEmbedding", {x},
                      {attribute("num_heads", heads), attribute("head_dim", part.head_dim),
                       attribute("rotary_dim", part.rotary_dim.value_or(part.head_dim))});
}

}  // namespace

namespace {

std::vector<Attribute> attributes_of(const Attention& part, int64_t value_dim) {
  std::vector<Attribute> attributes = {
      attribute("num_heads", part.heads), attribute("kv_num_heads", part.kv_heads),
      attribute("head_dim", part.head_dim), attribute("v_head_dim", value_dim),
      attribute("causal", int64_t{part.causal})};
  if (part.window) attributes.push_back(attribute("window", *part.window));
  if (part.block) attributes.push_back(attribute("block", *part.block));
  if (part.selection) attributes.push_back(attribute("selected_keys", part.selection->keys));
  if (part.chunk) attributes.push_back(attribute("chunk", *part.chunk));
  if (part.softcap != 0) attributes.push_back(attribute("softcap", part.softcap));
  return attributes;
}

// The index: its keys have a cache of their own.
ValueId choose_blocks(GraphBuilder& builder, ValueId x, const Attention& part, int64_t layer) {
  const BlockSelection& selection = *part.selection;
  int64_t width = selection.heads * selection.head_dim;
  auto prepare = [&](const std::string& name, int64_t heads) {
    ValueId y = linear(builder, x, {name + "_proj", part.hidden_size, heads * selection.head_dim});
    y = builder.reshape(y, {0, 0, heads, selection.head_dim});
    y = builder.reshape(normalize(builder, y, name + "_norm", selection.head_dim, part.norm),
                        {0, 0, heads * selection.head_dim});
    Attention index = part;
    index.head_dim = selection.head_dim;
    if (index.rotary_dim) index.rotary_dim = std::min(*index.rotary_dim, selection.head_dim);
    return rotate(builder, y, index, heads);
  };
  ValueId q = prepare("index_q", width / selection.head_dim), k = prepare("index_k", 1);
  GraphBuilder::CacheSpec cache;
  cache.name = "past_key_values." + std::to_string(layer) + ".index";
  Expr past = builder.past(), size(selection.head_dim);
  cache.past = {builder.batch(), past, size};
  cache.present = {builder.batch(), past + builder.tokens(), size};
  cache.allocated = {builder.batch(), Expr::variable(kMaxLength), size};
  cache.sequence_axis = 1;
  return builder.cached("SparseIndexer", {q, k, ValueId()}, 1, {cache},
                        {attribute("num_heads", selection.heads), attribute("head_dim", selection.head_dim),
                         attribute("selected_keys", selection.keys)}).outputs[0];
}

ValueId attend(GraphBuilder& builder, ValueId x, ValueId q, Projected projected, const Attention& part, int64_t layer,
               int64_t value_dim) {
  if (part.shared_with) {
    std::vector<ValueId> kept = builder.remembered(*part.shared_with);
    return builder.ours("SharedAttention", {q, kept[0], kept[1]}, attributes_of(part, value_dim));
  }
  ValueId k = normalize_heads(builder, projected.key, part, part.key_norm, part.kv_heads);
  k = rotate(builder, k, part, part.kv_heads);
  ValueId v = projected.value;
  if (part.value_norm) {
    ValueId heads = builder.reshape(v, {0, 0, part.kv_heads, value_dim});
    heads = builder.ours("RMSNormalization", {heads}, {attribute("axis", int64_t{-1})});
    v = builder.reshape(heads, {0, 0, part.kv_heads * value_dim});
  }
  std::vector<ValueId> inputs = {q, k, v, ValueId()};
  if (part.sinks) {
    inputs[3] = builder.parameter(part.sinks_name, part.sinks_dims.empty() ? std::vector{part.heads} : part.sinks_dims);
  }
  if (part.selection) inputs[3] = choose_blocks(builder, x, part, layer);
  if (!part.cached) {
    if (!part.sinks) inputs.pop_back();
    return builder.ours("Attention", std::move(inputs), attributes_of(part, value_dim));
  }
  auto node = builder.cached("Attention", inputs, 1, key_value_cache(builder, layer, part),
                             attributes_of(part, value_dim));
  builder.remember(layer, node.presents);
  return node.outputs[0];
}

}  // namespace

ValueId attend_to_all(GraphBuilder& builder, ValueId query, ValueId key, ValueId value, int64_t heads,
                      int64_t head_dim, int64_t block, ValueId bias) {
  Attention part;
  part.heads = part.kv_heads = heads;
  part.head_dim = head_dim;
  part.causal = false;
  if (block > 0) part.block = block;
  std::vector<ValueId> inputs = {query, key, value};
  if (bias) inputs.push_back(bias);
  return builder.ours("Attention", std::move(inputs), attributes_of(part, head_dim));
}

ValueId Attention::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name, class_name);
  int64_t value_dim = value_head_dim.value_or(head_dim);
  Projected projected = project(builder, x, *this, value_dim);
  ValueId q = normalize_heads(builder, projected.query, *this, query_norm, heads);
  q = rotate(builder, q, *this, heads);
  ValueId mixed = attend(builder, x, q, projected, *this, layer, value_dim);
  if (!head_gate.empty()) {
    ValueId open = builder.op("Sigmoid", {linear(builder, x, {head_gate, hidden_size, heads})});
    mixed = builder.reshape(mixed, {0, 0, heads, value_dim});
    mixed = builder.op("Mul", {mixed, builder.reshape(open, {0, 0, heads, 1})});
    mixed = builder.reshape(mixed, {0, 0, heads * value_dim});
  }
  if (gated) mixed = builder.op("Mul", {mixed, builder.op("Sigmoid", {projected.gate})});
  return linear(builder, mixed, {output, heads * value_dim, hidden_size, output_bias, stored_in_out});
}

ValueId cross_attention(GraphBuilder& builder, ValueId x, ValueId encoded, const Attention& part,
                        const Expr& encoded_tokens, int64_t layer) {
  auto scope = builder.scope(part.name, part.class_name);
  int64_t width = part.heads * part.head_dim, kept = part.kv_heads * part.head_dim;
  ValueId q = linear(builder, x, {part.query, part.hidden_size, width, part.qkv_bias});
  q = normalize_heads(builder, q, part, part.query_norm, part.heads);
  ValueId k, v;
  {
    std::optional<GraphBuilder::Silence> kept_already;
    if (builder.decode()) kept_already.emplace(builder);
    k = linear(builder, encoded, {part.key, part.hidden_size, kept, part.qkv_bias && part.key_bias});
    k = normalize_heads(builder, k, part, part.key_norm, part.kv_heads);
    v = linear(builder, encoded, {part.value, part.hidden_size, kept, part.qkv_bias});
  }
  auto cache = [&](const char* name) {
    GraphBuilder::CacheSpec spec;
    spec.kind = CacheKind::kCrossKeyValue;
    spec.name = "past_key_values." + std::to_string(layer) + ".encoder." + name;
    spec.past = {builder.batch(), Expr(part.kv_heads), encoded_tokens, Expr(part.head_dim)};
    spec.present = spec.allocated = spec.past;
    return spec;
  };
  ValueId mixed = builder.cached("CrossAttention", {q, k, v}, 1, {cache("key"), cache("value")},
                                 attributes_of(part, part.head_dim)).outputs[0];
  return linear(builder, mixed, {part.output, width, part.hidden_size, part.output_bias});
}

}  // namespace kcharter
