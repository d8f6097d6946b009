// gpt-oss: alternating windows with sinks, stacked experts with biases.
#include "import/architecture/families/families.h"

namespace kcharter {

void build_gpt_oss(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  Attention attention = attention_of(config);
  attention.head_dim = config.integer("head_dim", 64);
  attention.qkv_bias = attention.output_bias = config.flag("attention_bias", true);
  attention.sinks = true;
  MixtureOfExperts experts = mixture_of(config);
  experts.intermediate_size = config.require("intermediate_size");
  experts.router = "router";
  experts.router_bias = true;
  experts.up = "gate_up_proj";
  experts.fused = experts.stacked = experts.stacked_in_out = experts.biases = true;
  use_in_all_layers(decoder, attention, experts, windows_of(config, 2, 128));
  build(builder, decoder);
}

}  // namespace kcharter
