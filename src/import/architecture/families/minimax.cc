// MiniMax-01 and M1: lightning attention on most layers, experts in all.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// Keys and values of all tokens summed into one matrix for each head: arXiv 2501.08313.
Block lightning_attention(int64_t hidden, int64_t heads, int64_t head_dim, const Norm& norm) {
  return [=](GraphBuilder& b, ValueId x, int64_t layer) {
    auto scope = b.scope("self_attn");
    int64_t width = heads * head_dim;
    ValueId qkv = activate(b, linear(b, x, {"qkv_proj", hidden, 3 * width}), "silu");
    std::vector<ValueId> parts = b.split(qkv, {width, width, width});
    ValueId y = recur(b, parts, {"LightningAttention", {heads, head_dim, head_dim}, width, 2, {}}, layer);
    y = normalize(b, y, "norm", width, norm);
    ValueId gate = b.op("Sigmoid", {linear(b, x, {"output_gate", hidden, width})});
    return linear(b, b.op("Mul", {gate, y}), {"out_proj", width, hidden});
  };
}

}  // namespace

void build_minimax(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.rotary_dim = config.integer("rotary_dim", attention.head_dim);
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "block_sparse_moe";
  experts.intermediate_size = config.require("intermediate_size");
  experts.router_dtype = DType::kF32;
  experts.gate = "w1";
  experts.up = "w3";
  experts.down = "w2";
  Block lightning = lightning_attention(decoder.hidden_size, attention.heads, attention.head_dim, decoder.norm);
  std::vector<int64_t> kinds = config.integers("attn_type_list");
  std::vector<std::string> types = config.texts("layer_types");
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    bool full = i < kinds.size() ? kinds[i] == 1 : i < types.size() ? types[i] == "full_attention" : i % 2 == 1;
    decoder.layers[i].mixer = full ? Block(attention) : lightning;
    decoder.layers[i].feed_forward = experts;
  }
  build(builder, decoder);
}

}  // namespace kcharter
