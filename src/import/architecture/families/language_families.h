// Language models that no longer fit the table of family.cc, and the table of their names.
#pragma once

#include <span>

#include "import/architecture/decoder.h"
#include "import/architecture/family.h"

namespace kcharter {

std::span<const Family> language_families();

// deepseek4.cc
void build_deepseek4(GraphBuilder& builder, const ModelConfig& config);
// exaone.cc
void build_exaone(GraphBuilder& builder, const ModelConfig& config);
// fish.cc
void build_fish_qwen3_omni(GraphBuilder& builder, const ModelConfig& config);
// gemma3n.cc
void build_gemma3n(GraphBuilder& builder, const ModelConfig& config);
void build_gemma3n_text(GraphBuilder& builder, const ModelConfig& config);
// kimi.cc
void build_kimi_linear(GraphBuilder& builder, const ModelConfig& config);
void build_kimi_k25(GraphBuilder& builder, const ModelConfig& config);
void build_kimi_k3(GraphBuilder& builder, const ModelConfig& config);
// minimax_m3.cc
void build_minimax_m3(GraphBuilder& builder, const ModelConfig& config);
void build_minimax_m3_vl(GraphBuilder& builder, const ModelConfig& config);
// nemotron_nas.cc
void build_deci(GraphBuilder& builder, const ModelConfig& config);
// rwkv.cc
void build_rwkv(GraphBuilder& builder, const ModelConfig& config);
void build_rwkv6(GraphBuilder& builder, const ModelConfig& config);
// step.cc
void build_step3p5(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
