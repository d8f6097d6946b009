// MiniMax M3: grouped-query attention in which each query sees the best blocks of keys on all but the
// first layers, chosen by an index of its own; experts on the same layers.
#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"

namespace kcharter {
namespace {

bool listed(const std::vector<int64_t>& list, size_t layer, bool otherwise) {
  return layer < list.size() ? list[layer] != 0 : otherwise;
}

MixtureOfExperts experts_of(const ModelConfig& config) {
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "block_sparse_moe";
  experts.intermediate_size = config.integer("moe_intermediate_size", config.require("intermediate_size"));
  experts.gate = "w1", experts.up = "w3", experts.down = "w2";
  experts.activation = "silu";  // its bounded variant costs as much
  if (config.flag("use_routing_bias", true)) experts.correction_bias = "e_score_correction_bias";
  int64_t shared = config.integer("n_shared_experts", 0);
  if (shared > 0) {
    FeedForward part = feed_forward_of(config);
    part.name = "shared_experts";
    part.activation = "silu";
    part.intermediate_size = shared * config.integer("shared_intermediate_size", experts.intermediate_size);
    experts.shared = part;
  }
  return experts;
}

Decoder minimax_m3_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.rotary_dim = config.integer("rotary_dim", attention.head_dim);
  if (config.flag("use_qk_norm", true)) {
    bool whole = config.text("qk_norm_type", "per_head") == "per_layer";
    attention.query_key_norm = whole ? QueryKeyNorm::kWhole : QueryKeyNorm::kPerHead;
  }
  attention.gated = config.flag("attention_output_gate", false);
  Attention sparse = attention;
  ModelConfig own = config.section("sparse_attention_config");
  if (own.flag("use_sparse_attention", false)) {
    sparse.selection = BlockSelection{.heads = own.require("sparse_num_index_heads"),
                                      .head_dim = own.require("sparse_index_dim"),
                                      .keys = own.require("sparse_topk_blocks") * own.require("sparse_block_size")};
  }
  FeedForward dense = feed_forward_of(config);
  dense.intermediate_size = config.integer("dense_intermediate_size", dense.intermediate_size);
  dense.activation = "silu";
  MixtureOfExperts experts = experts_of(config);
  std::vector<int64_t> routed = config.integers("moe_layer_freq"), selects = own.integers("sparse_attention_freq");
  int64_t first = config.integer("first_k_dense_replace", 0);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    bool later = static_cast<int64_t>(i) >= first;
    decoder.layers[i].mixer = listed(selects, i, later) ? sparse : attention;
    decoder.layers[i].feed_forward = listed(routed, i, later) ? Block(experts) : Block(dense);
  }
  return decoder;
}

}  // namespace

void build_minimax_m3(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, minimax_m3_decoder(config));
}

void build_minimax_m3_vl(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = minimax_m3_decoder(config.section("text_config"));
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
  if (config.has("vision_config")) {
    builder.diagnostics().add(Severity::kWarning, "tower-not-known", "vision_config",
                              "the vision tower is not charted");
  }
  build(builder, decoder);
}

}  // namespace kcharter
