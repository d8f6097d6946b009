// Llama 4, text: attention in chunks on three layers of four, experts on every layer or every other.
#include <algorithm>

#include "import/architecture/families/families.h"

namespace kcharter {

Decoder llama4_decoder(const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
  FeedForward dense = feed_forward_of(config);
  dense.name = "feed_forward";
  dense.intermediate_size = config.integer("intermediate_size_mlp", 16384);
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "feed_forward";
  experts.intermediate_size = config.require("intermediate_size");
  experts.router = "router";
  experts.up = "gate_up_proj";
  experts.fused = experts.stacked = experts.stacked_in_out = true;
  FeedForward shared = feed_forward_of(config);
  shared.name = "shared_expert";
  experts.shared = shared;

  std::vector<int64_t> rotary = config.integers("no_rope_layers");
  int64_t interval = config.integer("no_rope_layer_interval", 4);
  std::vector<int64_t> sparse = config.integers("moe_layers");
  int64_t step = std::max<int64_t>(1, config.integer("interleave_moe_layer_step", 1));
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    int64_t layer = static_cast<int64_t>(i);
    attention.rotary = i < rotary.size() ? rotary[i] != 0 : interval <= 0 || (layer + 1) % interval != 0;
    attention.chunk.reset();
    if (attention.rotary) attention.chunk = config.integer("attention_chunk_size", 8192);
    decoder.layers[i].mixer = attention;
    bool routed = sparse.empty() ? (layer + 1) % step == 0
                                 : std::find(sparse.begin(), sparse.end(), layer) != sparse.end();
    decoder.layers[i].feed_forward = routed ? Block(experts) : Block(dense);
  }
  return decoder;
}

void build_llama4(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, llama4_decoder(config));
}

}  // namespace kcharter
