// MixtureOfExperts: a router, k of E feed-forward experts for each token, and experts all tokens share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "import/architecture/components.h"
#include "import/architecture/model_config.h"

namespace kcharter {

struct MixtureOfExperts {
  std::string name = "mlp";
  std::string class_name;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;  // of one expert
  int64_t experts = 0;
  int64_t chosen = 0;
  std::string router = "gate";
  std::optional<DType> router_dtype;
  bool router_bias = false;
  std::string correction_bias;  // a stored bias of each expert's score, f32: its name in the block
  bool correction_is_parameter = false;  // most implementations keep it as a buffer
  std::string activation = "silu";

  // Experts: matrices of their own, "experts.7.gate_proj.weight"; or stacked in one tensor for all.
  std::string expert_list = "experts";
  std::string gate = "gate_proj";  // empty: experts have no gate
  std::string up = "up_proj";
  std::string down = "down_proj";
  bool fused = false;              // gate and up are one matrix called `up`
  bool stacked = false;
  bool stacked_in_out = false;     // [E, in, out] rather than [E, out, in]
  bool stacked_flat = false;       // [E·inner, hidden] for all three
  std::string stacked_suffix;      // ".weight" where the stack is a module of its own
  bool biases = false;             // stacked: "<name>_bias"
  std::string expert_prefix;       // "expert_": experts.expert_7

  std::optional<FeedForward> shared;
  std::string shared_gate;         // a gate of the shared expert's output, [1, hidden]
  int64_t latent_size = 0;         // experts work in a space of this size, 0: in the hidden one
  std::string latent_in, latent_out;
  std::string latent_norm;         // after the experts, in that space; empty: none

  ValueId operator()(GraphBuilder& builder, ValueId x, int64_t layer) const;
  // The routed experts alone, where router and experts read different values.
  ValueId run(GraphBuilder& builder, ValueId for_router, ValueId for_experts) const;
};

// Sizes as configurations give them; names are the family's.
MixtureOfExperts mixture_of(const ModelConfig& config);

}  // namespace kcharter
