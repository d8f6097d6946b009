// One line for each family's function; each is written in the file of its name.
#pragma once

#include "import/architecture/decoder.h"
#include "import/architecture/graph_builder.h"
#include "import/architecture/model_config.h"
#include "import/architecture/vision.h"

namespace kcharter {

// llama.cc
void build_llama(GraphBuilder& builder, const ModelConfig& config);
void build_mistral(GraphBuilder& builder, const ModelConfig& config);
// qwen.cc
void build_qwen2(GraphBuilder& builder, const ModelConfig& config);
void build_qwen3(GraphBuilder& builder, const ModelConfig& config);
// gemma.cc
void build_gemma(GraphBuilder& builder, const ModelConfig& config);
void build_gemma2(GraphBuilder& builder, const ModelConfig& config);
Decoder gemma3_decoder(const ModelConfig& config);
void build_gemma3_text(GraphBuilder& builder, const ModelConfig& config);
// llama_like.cc
void build_internlm(GraphBuilder& builder, const ModelConfig& config);
void build_pangu_embedded(GraphBuilder& builder, const ModelConfig& config);
void build_seed_oss(GraphBuilder& builder, const ModelConfig& config);
void build_baichuan(GraphBuilder& builder, const ModelConfig& config);
void build_orion(GraphBuilder& builder, const ModelConfig& config);
void build_minicpm(GraphBuilder& builder, const ModelConfig& config);
void build_internlm2(GraphBuilder& builder, const ModelConfig& config);
void build_qwen1(GraphBuilder& builder, const ModelConfig& config);
void build_stablelm(GraphBuilder& builder, const ModelConfig& config);
void build_starcoder2(GraphBuilder& builder, const ModelConfig& config);
void build_nemotron(GraphBuilder& builder, const ModelConfig& config);
void build_arcee(GraphBuilder& builder, const ModelConfig& config);
void build_smollm3(GraphBuilder& builder, const ModelConfig& config);
void build_hunyuan_dense(GraphBuilder& builder, const ModelConfig& config);
void build_ernie(GraphBuilder& builder, const ModelConfig& config);
// glm.cc
void build_chatglm(GraphBuilder& builder, const ModelConfig& config);
void build_glm(GraphBuilder& builder, const ModelConfig& config);
void build_glm4(GraphBuilder& builder, const ModelConfig& config);
// olmo.cc
void build_olmo(GraphBuilder& builder, const ModelConfig& config);
void build_olmo2(GraphBuilder& builder, const ModelConfig& config);
void build_exaone4(GraphBuilder& builder, const ModelConfig& config);
// cohere.cc
void build_cohere(GraphBuilder& builder, const ModelConfig& config);
void build_cohere2(GraphBuilder& builder, const ModelConfig& config);
// granite.cc
void build_granite(GraphBuilder& builder, const ModelConfig& config);
// mimo.cc
void build_mimo(GraphBuilder& builder, const ModelConfig& config);
// phi.cc
void build_phi(GraphBuilder& builder, const ModelConfig& config);
void build_phi3(GraphBuilder& builder, const ModelConfig& config);
// falcon.cc
void build_falcon(GraphBuilder& builder, const ModelConfig& config);
// gpt.cc
void build_gpt2(GraphBuilder& builder, const ModelConfig& config);
void build_gpt_bigcode(GraphBuilder& builder, const ModelConfig& config);
void build_gptj(GraphBuilder& builder, const ModelConfig& config);
void build_codegen(GraphBuilder& builder, const ModelConfig& config);
void build_gpt_neo(GraphBuilder& builder, const ModelConfig& config);
void build_gpt_neox(GraphBuilder& builder, const ModelConfig& config);
void build_bloom(GraphBuilder& builder, const ModelConfig& config);
void build_mpt(GraphBuilder& builder, const ModelConfig& config);
// opt.cc
Decoder opt_decoder(const ModelConfig& config);
void build_opt(GraphBuilder& builder, const ModelConfig& config);
void build_xglm(GraphBuilder& builder, const ModelConfig& config);
// mixtral.cc
void build_mixtral(GraphBuilder& builder, const ModelConfig& config);
void build_phimoe(GraphBuilder& builder, const ModelConfig& config);
void build_minimax_m2(GraphBuilder& builder, const ModelConfig& config);
void build_granitemoe(GraphBuilder& builder, const ModelConfig& config);
void build_dbrx(GraphBuilder& builder, const ModelConfig& config);
// qwen_moe.cc
MixtureOfExperts qwen2_experts(const ModelConfig& config);
void use_sparse_layers(Decoder& decoder, const ModelConfig& config, const Attention& attention,
                       const MixtureOfExperts& experts);
void build_qwen2_moe(GraphBuilder& builder, const ModelConfig& config);
void build_qwen3_moe(GraphBuilder& builder, const ModelConfig& config);
void build_olmoe(GraphBuilder& builder, const ModelConfig& config);
void build_hunyuan_moe(GraphBuilder& builder, const ModelConfig& config);
void build_ernie_moe(GraphBuilder& builder, const ModelConfig& config);
// deepseek.cc
void build_deepseek1(GraphBuilder& builder, const ModelConfig& config);
void build_deepseek2(GraphBuilder& builder, const ModelConfig& config);
Decoder deepseek3_decoder(const ModelConfig& config);
void build_deepseek3(GraphBuilder& builder, const ModelConfig& config);
void build_glm4_moe(GraphBuilder& builder, const ModelConfig& config);
// gpt_oss.cc
void build_gpt_oss(GraphBuilder& builder, const ModelConfig& config);
// llama4.cc
Decoder llama4_decoder(const ModelConfig& config);
void build_llama4(GraphBuilder& builder, const ModelConfig& config);
// mimo_v2.cc
void build_mimo_v2(GraphBuilder& builder, const ModelConfig& config);
// qwen3_next.cc
Decoder qwen3_next_decoder(const ModelConfig& config, bool fused);
void declare_qwen_prediction_layers(GraphBuilder& builder, const ModelConfig& config, const Decoder& decoder);
void build_qwen3_next(GraphBuilder& builder, const ModelConfig& config);
// gemma4.cc
Decoder gemma4_decoder(const ModelConfig& config);
void build_gemma4_text(GraphBuilder& builder, const ModelConfig& config);
// nemotron_h.cc
void build_nemotron_h(GraphBuilder& builder, const ModelConfig& config);
// mamba.cc
void build_mamba(GraphBuilder& builder, const ModelConfig& config);
void build_mamba2(GraphBuilder& builder, const ModelConfig& config);
void build_jamba(GraphBuilder& builder, const ModelConfig& config);
void build_falcon_h1(GraphBuilder& builder, const ModelConfig& config);
void build_granite_hybrid(GraphBuilder& builder, const ModelConfig& config);
// lfm2.cc
void build_lfm2(GraphBuilder& builder, const ModelConfig& config);
// minimax.cc
void build_minimax(GraphBuilder& builder, const ModelConfig& config);
// qwen_vl.cc
void build_qwen2_vl(GraphBuilder& builder, const ModelConfig& config);
void build_qwen2_5_vl(GraphBuilder& builder, const ModelConfig& config);
void build_qwen3_vl(GraphBuilder& builder, const ModelConfig& config);
void build_qwen3_5(GraphBuilder& builder, const ModelConfig& config);
// gemma_vision.cc
void build_gemma3(GraphBuilder& builder, const ModelConfig& config);
void build_gemma4(GraphBuilder& builder, const ModelConfig& config);
// llava.cc
void build_llava(GraphBuilder& builder, const ModelConfig& config);
void build_clip(GraphBuilder& builder, const ModelConfig& config);
void build_clip_text(GraphBuilder& builder, const ModelConfig& config);
void build_clip_text_projection(GraphBuilder& builder, const ModelConfig& config);
void build_clip_vision(GraphBuilder& builder, const ModelConfig& config);
// vit.cc
void build_vit_classifier(GraphBuilder& builder, const ModelConfig& config);
void build_deit_classifier(GraphBuilder& builder, const ModelConfig& config);
void build_vit(GraphBuilder& builder, const ModelConfig& config);
void build_beit_classifier(GraphBuilder& builder, const ModelConfig& config);
// persimmon.cc
void build_persimmon(GraphBuilder& builder, const ModelConfig& config);
void build_fuyu(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
