#include "import/architecture/family.h"

#include <span>
#include <vector>

#include "import/architecture/families/diffusion_families.h"
#include "import/architecture/families/encoder_families.h"
#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"
#include "import/architecture/families/vision_families.h"

namespace kcharter {
namespace {

// The first line of a model_type is the one for configurations that name no class.
constexpr Family kFamilies[] = {
    {"LlamaForCausalLM", "llama", build_llama},
    {"MistralForCausalLM", "mistral", build_mistral},
    {"Qwen2ForCausalLM", "qwen2", build_qwen2},
    {"Qwen3ForCausalLM", "qwen3", build_qwen3},
    {"GemmaForCausalLM", "gemma", build_gemma},
    {"Gemma2ForCausalLM", "gemma2", build_gemma2},
    {"Gemma3ForCausalLM", "gemma3_text", build_gemma3_text},
    {"InternLMForCausalLM", "internlm", build_internlm},
    {"PanguEmbeddedForCausalLM", "PanguEmbedded", build_pangu_embedded},
    {"SeedOssForCausalLM", "seed_oss", build_seed_oss},
    {"BaichuanForCausalLM", "baichuan", build_baichuan},
    {"OrionForCausalLM", "orion", build_orion},
    {"MiniCPMForCausalLM", "minicpm", build_minicpm},
    {"InternLM2ForCausalLM", "internlm2", build_internlm2},
    {"QWenLMHeadModel", "qwen", build_qwen1},
    {"StableLmForCausalLM", "stablelm", build_stablelm},
    {"StableLMEpochForCausalLM", "stablelm_epoch", build_stablelm},
    {"Starcoder2ForCausalLM", "starcoder2", build_starcoder2},
    {"NemotronForCausalLM", "nemotron", build_nemotron},
    {"ArceeForCausalLM", "arcee", build_arcee},
    {"SmolLM3ForCausalLM", "smollm3", build_smollm3},
    {"HunYuanDenseV1ForCausalLM", "hunyuan_v1_dense", build_hunyuan_dense},
    {"Ernie4_5ForCausalLM", "ernie4_5", build_ernie},
    {"ChatGLMModel", "chatglm", build_chatglm},
    {"ChatGLMForConditionalGeneration", "chatglm", build_chatglm},
    {"GlmForCausalLM", "glm", build_glm},
    {"Glm4ForCausalLM", "glm4", build_glm4},
    {"OlmoForCausalLM", "olmo", build_olmo},
    {"Olmo2ForCausalLM", "olmo2", build_olmo2},
    {"Olmo3ForCausalLM", "olmo3", build_olmo2},
    {"Exaone4ForCausalLM", "exaone4", build_exaone4},
    {"CohereForCausalLM", "cohere", build_cohere},
    {"Cohere2ForCausalLM", "cohere2", build_cohere2},
    {"GraniteForCausalLM", "granite", build_granite},
    {"MiMoForCausalLM", "mimo", build_mimo},
    {"PhiForCausalLM", "phi", build_phi},
    {"Phi3ForCausalLM", "phi3", build_phi3},
    {"FalconForCausalLM", "falcon", build_falcon},
    {"GPT2LMHeadModel", "gpt2", build_gpt2},
    {"GPTBigCodeForCausalLM", "gpt_bigcode", build_gpt_bigcode},
    {"GPTJForCausalLM", "gptj", build_gptj},
    {"CodeGenForCausalLM", "codegen", build_codegen},
    {"GPTNeoForCausalLM", "gpt_neo", build_gpt_neo},
    {"GPTNeoXForCausalLM", "gpt_neox", build_gpt_neox},
    {"BloomForCausalLM", "bloom", build_bloom},
    {"MptForCausalLM", "mpt", build_mpt},
    {"MPTForCausalLM", "mpt", build_mpt},
    {"OPTForCausalLM", "opt", build_opt},
    {"XGLMForCausalLM", "xglm", build_xglm},
    {"MixtralForCausalLM", "mixtral", build_mixtral},
    {"PhimoeForCausalLM", "phimoe", build_phimoe},
    {"PhiMoEForCausalLM", "phimoe", build_phimoe},
    {"MiniMaxM2ForCausalLM", "minimax_m2", build_minimax_m2},
    {"GraniteMoeForCausalLM", "granitemoe", build_granitemoe},
    {"GraniteMoeSharedForCausalLM", "granitemoeshared", build_granitemoe},
    {"DbrxForCausalLM", "dbrx", build_dbrx},
    {"Qwen2MoeForCausalLM", "qwen2_moe", build_qwen2_moe},
    {"Qwen3MoeForCausalLM", "qwen3_moe", build_qwen3_moe},
    {"OlmoeForCausalLM", "olmoe", build_olmoe},
    {"HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe", build_hunyuan_moe},
    {"Ernie4_5_MoeForCausalLM", "ernie4_5_moe", build_ernie_moe},
    {"DeepseekForCausalLM", "deepseek", build_deepseek1},
    {"DeepseekV2ForCausalLM", "deepseek_v2", build_deepseek2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", build_deepseek3},
    {"DeepseekV32ForCausalLM", "deepseek_v32", build_deepseek3},
    {"DeepseekV3ForCausalLM", "kimi_k2", build_deepseek3},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", build_deepseek3},
    {"Glm4MoeForCausalLM", "glm4_moe", build_glm4_moe},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", build_deepseek3},
    {"GptOssForCausalLM", "gpt_oss", build_gpt_oss},
    {"Llama4ForCausalLM", "llama4_text", build_llama4},
    {"MiMoV2FlashForCausalLM", "mimo_v2_flash", build_mimo_v2},
    {"Qwen3NextForCausalLM", "qwen3_next", build_qwen3_next},
    {"Gemma4ForCausalLM", "gemma4_text", build_gemma4_text},
    {"NemotronHForCausalLM", "nemotron_h", build_nemotron_h},
    {"MambaForCausalLM", "mamba", build_mamba},
    {"FalconMambaForCausalLM", "falcon_mamba", build_mamba},
    {"Mamba2ForCausalLM", "mamba2", build_mamba2},
    {"JambaForCausalLM", "jamba", build_jamba},
    {"FalconH1ForCausalLM", "falcon_h1", build_falcon_h1},
    {"GraniteMoeHybridForCausalLM", "granitemoehybrid", build_granite_hybrid},
    {"Lfm2ForCausalLM", "lfm2", build_lfm2},
    {"Lfm2MoeForCausalLM", "lfm2_moe", build_lfm2},
    {"MiniMaxM1ForCausalLM", "minimax_m1", build_minimax},
    {"MiniMaxText01ForCausalLM", "minimax_text_01", build_minimax},
    {"MiniMaxForCausalLM", "minimax", build_minimax},
    {"Qwen2VLForConditionalGeneration", "qwen2_vl", build_qwen2_vl},
    {"Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", build_qwen2_5_vl},
    {"Qwen3VLForConditionalGeneration", "qwen3_vl", build_qwen3_vl},
    {"Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", build_qwen3_vl},
    {"Qwen3_5ForConditionalGeneration", "qwen3_5", build_qwen3_5},
    {"Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", build_qwen3_5},
    {"Qwen3_5ForCausalLM", "qwen3_5_text", build_qwen3_5},
    {"Gemma3ForConditionalGeneration", "gemma3", build_gemma3},
    {"Gemma4ForConditionalGeneration", "gemma4", build_gemma4},
    {"LlavaForConditionalGeneration", "llava", build_llava},
    {"CLIPModel", "clip", build_clip},
    {"CLIPTextModel", "clip_text_model", build_clip_text},
    {"CLIPTextModelWithProjection", "clip_text_model", build_clip_text_projection},
    {"CLIPVisionModel", "clip_vision_model", build_clip_vision},
    {"ViTForImageClassification", "vit", build_vit_classifier},
    {"ViTModel", "vit", build_vit},
    {"DeiTForImageClassification", "deit", build_deit_classifier},
    {"BeitForImageClassification", "beit", build_beit_classifier},
    {"PersimmonForCausalLM", "persimmon", build_persimmon},
    {"FuyuForCausalLM", "fuyu", build_fuyu},
};

std::vector<Family>& registered() {
  static std::vector<Family> families;
  return families;
}

const Family* find_in(std::span<const Family> families, std::string_view architecture,
                      std::string_view model_type) {
  for (const Family& family : families) {
    bool same = architecture.empty() ? !model_type.empty() && family.model_type == model_type
                                     : family.architecture == architecture;
    if (same) return &family;
  }
  return nullptr;
}

}  // namespace

const Family* find_family(const ModelConfig& config) {
  std::vector<std::string> names = config.texts("architectures");
  std::string architecture = names.empty() ? config.text("_class_name") : names[0];
  std::string model_type = config.text("model_type");
  for (std::span<const Family> table :
       {std::span<const Family>(registered()), std::span<const Family>(kFamilies), language_families(),
        encoder_families(), vision_families(), diffusion_families()}) {
    if (const Family* found = find_in(table, architecture, model_type)) return found;
  }
  return nullptr;
}

void register_family(const Family& family) { registered().push_back(family); }

}  // namespace kcharter
