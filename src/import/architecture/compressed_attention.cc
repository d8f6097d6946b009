#include "import/architecture/compressed_attention.h"

#include "import/architecture/recurrent.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

ValueId rotate(GraphBuilder& builder, ValueId x, int64_t heads, int64_t head_dim, int64_t rotary_dim) {
  return builder.ours("RotaryEmbedding", {x},
                      {attribute("num_heads", heads), attribute("head_dim", head_dim),
                       attribute("rotary_dim", rotary_dim)});
}

// [B, length, width] of keys that are values too.
GraphBuilder::CacheSpec key_cache(const GraphBuilder& builder, int64_t layer, const char* part, int64_t width,
                                  const Expr& past, const Expr& present, const Expr& allocated) {
  GraphBuilder::CacheSpec cache;
  cache.name = "past_key_values." + std::to_string(layer) + "." + part;
  cache.past = {builder.batch(), past, Expr(width)};
  cache.present = {builder.batch(), present, Expr(width)};
  cache.allocated = {builder.batch(), allocated, Expr(width)};
  return cache;
}

// One entry for each `ratio` tokens: rows of the cache are entries, not positions.
GraphBuilder::CacheSpec entry_cache(const GraphBuilder& builder, int64_t layer, const char* part, int64_t width,
                                    int64_t ratio) {
  Expr step(ratio);
  return key_cache(builder, layer, part, width, floor_div(builder.past(), step),
                   floor_div(builder.past() + builder.tokens(), step), floor_div(Expr::variable(kMaxLength), step));
}

GraphBuilder::CacheSpec window_cache(const GraphBuilder& builder, int64_t layer, int64_t width, int64_t window) {
  auto cache = key_cache(builder, layer, "window", width, min(builder.past(), Expr(window - 1)),
                         min(builder.past() + builder.tokens(), Expr(window)),
                         min(Expr::variable(kMaxLength), Expr(window)));
  cache.sequence_axis = 1;
  return cache;
}

// The open module's weights are not quantized; `state` names the cache of tokens not yet compressed.
ValueId compress(GraphBuilder& builder, ValueId x, const CompressedAttention& part, int64_t size, int64_t layer,
                 const char* state) {
  auto scope = builder.scope("compressor");
  int64_t halves = part.ratio == kIndexedRatio ? 2 : 1, width = halves * size;
  ValueId kv = linear(builder, x, {"wkv", part.hidden_size, width});
  ValueId gate = linear(builder, x, {"wgate", part.hidden_size, width});
  ValueId positions = builder.parameter("ape", {part.ratio, width}, {}, DType::kF32);
  auto cache = state_cache(builder, layer, state, {2, halves * part.ratio, width}, DType::kF32);
  ValueId entries = builder.cached("CompressTokens", {kv, gate, positions}, 1, {cache},
                                   {attribute("ratio", part.ratio), attribute("size", size)}).outputs[0];
  return rotate(builder, normalize(builder, entries, "norm", size, part.norm), 1, size, part.rope_dim);
}

ValueId choose(GraphBuilder& builder, ValueId x, ValueId latent, const CompressedAttention& part, int64_t layer) {
  auto scope = builder.scope("indexer");
  const SparseIndexer& indexer = part.indexer;
  ValueId q = linear(builder, latent, {"wq_b", part.query_rank, indexer.heads * indexer.head_dim});
  q = rotate(builder, q, indexer.heads, indexer.head_dim, part.rope_dim);
  ValueId weights = linear(builder, x, {"weights_proj", part.hidden_size, indexer.heads});
  ValueId keys = compress(builder, x, part, indexer.head_dim, layer, "index_compressor");
  return builder
      .cached("SparseIndexer", {q, keys, weights}, 1,
              {entry_cache(builder, layer, "index", indexer.head_dim, part.ratio)},
              {attribute("num_heads", indexer.heads), attribute("head_dim", indexer.head_dim),
               attribute("selected_keys", indexer.selected), attribute("ratio", part.ratio)})
      .outputs[0];
}

// Each group of heads has a matrix of its own: [groups · rank, heads · head_dim / groups], stored as one.
ValueId project_groups(GraphBuilder& builder, ValueId x, const CompressedAttention& part) {
  auto scope = builder.scope("wo_a");
  int64_t groups = part.output_groups, in = part.heads * part.head_dim / groups, rank = part.output_rank;
  x = builder.reshape(x, {0, 0, groups, 1, in});
  GraphBuilder::Matrix weight = builder.matrix(in, groups * rank);
  std::vector<ValueId> inputs = {x};
  if (weight.quantized) {
    inputs.insert(inputs.end(), weight.parts.begin(), weight.parts.end());
    x = builder.ours("QuantizedMatMul", std::move(inputs), {attribute("in", in), attribute("out", rank)});
  } else {
    inputs.push_back(builder.reshape(weight.parts[0], {groups, in, rank}));
    x = builder.op("MatMul", std::move(inputs));
  }
  return builder.reshape(x, {0, 0, groups * rank});
}

}  // namespace

ValueId CompressedAttention::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name);
  int64_t width = heads * head_dim;
  ValueId latent = normalize(builder, linear(builder, x, {"wq_a", hidden_size, query_rank}), "q_norm", query_rank, norm);
  ValueId q = linear(builder, latent, {"wq_b", query_rank, width});
  q = builder.reshape(q, {0, 0, heads, head_dim});
  q = builder.ours("RMSNormalization", {q}, {attribute("axis", int64_t{-1})});
  q = rotate(builder, builder.reshape(q, {0, 0, width}), heads, head_dim, rope_dim);
  ValueId kv = normalize(builder, linear(builder, x, {"wkv", hidden_size, head_dim}), "kv_norm", head_dim, norm);
  kv = rotate(builder, kv, 1, head_dim, rope_dim);
  ValueId entries, chosen;
  std::vector<GraphBuilder::CacheSpec> caches = {window_cache(builder, layer, head_dim, window)};
  std::vector<Attribute> attributes = {attribute("num_heads", heads), attribute("v_head_dim", head_dim),
                                       attribute("window", window), attribute("ratio", ratio)};
  if (ratio > 0) {
    entries = compress(builder, x, *this, head_dim, layer, "compressor");
    caches.push_back(entry_cache(builder, layer, "entries", head_dim, ratio));
  }
  if (ratio == kIndexedRatio) {
    chosen = choose(builder, x, latent, *this, layer);
    attributes.push_back(attribute("selected_keys", indexer.selected));
  }
  ValueId sinks = builder.parameter("attn_sink", {heads}, {}, DType::kF32);
  ValueId y = builder.cached("CompressedAttention", {q, kv, entries, chosen, sinks}, 1, caches, std::move(attributes))
                  .outputs[0];
  y = rotate(builder, y, heads, head_dim, rope_dim);  // back, since keys were values
  y = project_groups(builder, y, *this);
  return linear(builder, y, {"wo_b", output_groups * output_rank, hidden_size});
}

CompressedAttention compressed_attention_of(const ModelConfig& config) {
  CompressedAttention part;
  part.hidden_size = config.require("hidden_size");
  part.heads = config.require("num_attention_heads");
  part.head_dim = config.require("head_dim");
  part.rope_dim = config.integer("qk_rope_head_dim", 64);
  part.query_rank = config.require("q_lora_rank");
  part.output_rank = config.require("o_lora_rank");
  part.output_groups = config.require("o_groups");
  part.window = config.integer("sliding_window", 128);
  part.indexer = {config.require("index_n_heads"), config.require("index_head_dim"), config.require("index_topk")};
  part.norm = {.kind = NormKind::kRms, .epsilon = config.number("rms_norm_eps", 1e-6)};
  if (part.output_groups < 1 || part.heads * part.head_dim % part.output_groups != 0 || part.window < 1) {
    throw Error("'o_groups' is " + std::to_string(part.output_groups) + ", 'sliding_window' " +
                std::to_string(part.window));
  }
  return part;
}

}  // namespace kcharter
