#include "import/architecture/latent_attention.h"

namespace kcharter {
namespace {

// A cache of one vector a token: [batch, length, width].
GraphBuilder::CacheSpec vector_cache(const GraphBuilder& builder, int64_t layer, const char* part,
                                     int64_t width) {
  GraphBuilder::CacheSpec cache;
  cache.name = "past_key_values." + std::to_string(layer) + "." + part;
  cache.past = {builder.batch(), builder.past(), Expr(width)};
  cache.present = {builder.batch(), builder.past() + builder.tokens(), Expr(width)};
  cache.allocated = {builder.batch(), Expr::variable(kMaxLength), Expr(width)};
  cache.sequence_axis = 1;
  return cache;
}

ValueId rotate(GraphBuilder& builder, ValueId x, int64_t heads, int64_t head_dim, int64_t rotary_dim) {
  return builder.ours("RotaryEmbedding", {x},
                      {attribute("num_heads", heads), attribute("head_dim", head_dim),
                       attribute("rotary_dim", rotary_dim)});
}

// Keys in fp8 with one f32 scale for 128 elements, as the model's own kernels keep them.
constexpr int64_t kIndexBlock = 128;

ValueId choose_keys(GraphBuilder& builder, ValueId x, ValueId query_latent, int64_t query_width,
                    const LatentAttention& part, int64_t layer) {
  const SparseIndexer& indexer = *part.indexer;
  auto scope = builder.scope("indexer");
  int64_t width = indexer.heads * indexer.head_dim;
  ValueId q = linear(builder, query_latent, {"wq_b", query_width, width});
  ValueId k = linear(builder, x, {"wk", part.hidden_size, indexer.head_dim});
  k = normalize(builder, k, "k_norm", indexer.head_dim, {.kind = NormKind::kLayer});
  ValueId weights = linear(builder, x, {"weights_proj", part.hidden_size, indexer.heads});
  q = rotate(builder, q, indexer.heads, indexer.head_dim, part.rope_dim);
  k = rotate(builder, k, 1, indexer.head_dim, part.rope_dim);
  GraphBuilder::CacheSpec cache = vector_cache(builder, layer, "index", indexer.head_dim);
  cache.format = ElementFormat{"fp8_scaled", kIndexBlock, kIndexBlock + 4};
  return builder
      .cached("SparseIndexer", {q, k, weights}, 1, {cache},
              {attribute("num_heads", indexer.heads), attribute("head_dim", indexer.head_dim),
               attribute("selected_keys", indexer.selected)})
      .outputs[0];
}

}  // namespace

ValueId LatentAttention::operator()(GraphBuilder& builder, ValueId x, int64_t layer) const {
  auto scope = builder.scope(name, class_name);
  int64_t query_width = heads * (nope_dim + rope_dim);
  ValueId query_latent = x, q;
  if (query_rank) {
    query_latent = linear(builder, x, {"q_a_proj", hidden_size, *query_rank, bias});
    query_latent = normalize(builder, query_latent, "q_a_layernorm", *query_rank, norm);
    q = linear(builder, query_latent, {"q_b_proj", *query_rank, query_width});
  } else {
    q = linear(builder, x, {"q_proj", hidden_size, query_width});
  }
  ValueId compressed = linear(builder, x, {"kv_a_proj_with_mqa", hidden_size, kv_rank + rope_dim, bias});
  std::vector<ValueId> split = builder.split(compressed, {kv_rank, rope_dim});
  ValueId latent = normalize(builder, split[0], "kv_a_layernorm", kv_rank, norm);
  ValueId key_rope = split[1];
  if (rotary) {
    q = rotate(builder, q, heads, nope_dim + rope_dim, rope_dim);
    key_rope = rotate(builder, key_rope, 1, rope_dim, rope_dim);
  }
  ValueId chosen;
  if (indexer) chosen = choose_keys(builder, x, query_latent, query_rank.value_or(hidden_size), *this, layer);

  int64_t expanded_width = heads * (nope_dim + value_dim);
  bool absorbed = builder.decode() || selected > 0;
  std::vector<ValueId> inputs = {q, latent, key_rope, ValueId(), chosen};
  if (absorbed) {
    auto kv_b = builder.scope("kv_b_proj");
    for (ValueId value : builder.matrix(kv_rank, expanded_width).parts) inputs.push_back(value);
  } else {
    inputs[3] = linear(builder, latent, {"kv_b_proj", kv_rank, expanded_width});
  }
  std::vector<Attribute> attributes = {
      attribute("num_heads", heads), attribute("kv_lora_rank", kv_rank),
      attribute("qk_nope_head_dim", nope_dim), attribute("qk_rope_head_dim", rope_dim),
      attribute("v_head_dim", value_dim), attribute("absorbed", int64_t{absorbed})};
  if (selected > 0) attributes.push_back(attribute("selected_keys", selected));
  ValueId mixed = builder.cached("LatentAttention", inputs, 1,
                                 {vector_cache(builder, layer, "latent", kv_rank + rope_dim)},
                                 std::move(attributes)).outputs[0];
  if (!output_gate.empty()) {
    ValueId gate = linear(builder, x, {output_gate, hidden_size, heads * value_dim});
    mixed = builder.op("Mul", {mixed, builder.op("Sigmoid", {gate})});
  }
  return linear(builder, mixed, {"o_proj", heads * value_dim, hidden_size, bias});
}

LatentAttention latent_attention_of(const ModelConfig& config) {
  LatentAttention part;
  part.hidden_size = config.require("hidden_size");
  part.heads = config.require("num_attention_heads");
  part.query_rank = config.integer("q_lora_rank");
  part.kv_rank = config.require("kv_lora_rank");
  part.nope_dim = config.require("qk_nope_head_dim");
  part.rope_dim = config.require("qk_rope_head_dim");
  part.value_dim = config.require("v_head_dim");
  part.bias = config.flag("attention_bias", false);
  part.norm = {.kind = NormKind::kRms, .epsilon = config.number("rms_norm_eps", 1e-6)};
  if (std::optional<int64_t> selected = config.integer("index_topk")) {
    part.selected = *selected;
    part.indexer = SparseIndexer{config.require("index_n_heads"), config.require("index_head_dim"), *selected};
  }
  return part;
}

}  // namespace kcharter
