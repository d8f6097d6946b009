#include "import/architecture/families/language_families.h"

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// As in family.cc: the first line of a model_type is the one for configurations that name no class.
constexpr Family kFamilies[] = {
    {"DeepseekV4ForCausalLM", "deepseek_v4", build_deepseek4},
    {"KimiLinearForCausalLM", "kimi_linear", build_kimi_linear},
    {"KimiK25ForConditionalGeneration", "kimi_k25", build_kimi_k25},
    {"KimiK3ForConditionalGeneration", "kimi_k3", build_kimi_k3},
    {"MiniMaxM3ForCausalLM", "minimax_m3", build_minimax_m3},
    {"MiniMaxM3SparseForCausalLM", "minimax_m3", build_minimax_m3},
    {"MiniMaxM3SparseForConditionalGeneration", "minimax_m3_vl", build_minimax_m3_vl},
    {"Step3p5ForCausalLM", "step3p5", build_step3p5},
    {"Step3p7FlashForCausalLM", "step3p7", build_step3p5},
    {"Step3p7ForConditionalGeneration", "step3p7", build_step3p5},
    {"RwkvForCausalLM", "rwkv", build_rwkv},
    {"Rwkv5ForCausalLM", "rwkv5", build_rwkv},
    {"Rwkv6ForCausalLM", "rwkv6", build_rwkv6},
    {"Gemma3nForCausalLM", "gemma3n_text", build_gemma3n_text},
    {"Gemma3nForConditionalGeneration", "gemma3n", build_gemma3n},
    {"DeciLMForCausalLM", "nemotron-nas", build_deci},
    {"DeciLMForCausalLM", "deci", build_deci},
    {"ExaoneForCausalLM", "exaone", build_exaone},
    {"FishQwen3OmniForCausalLM", "fish_qwen3_omni", build_fish_qwen3_omni},
    {"Qwen3_8ForConditionalGeneration", "qwen3_8", build_qwen3_5},
    {"Qwen3_8MoeForConditionalGeneration", "qwen3_8_moe", build_qwen3_5},
    {"Qwen3_8ForCausalLM", "qwen3_8_text", build_qwen3_5},
    {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", build_qwen3_5},
    // Llama and Mistral under other names.
    {"LLaMAForCausalLM", "llama", build_llama},
    {"YiForCausalLM", "Yi", build_llama},
    {"AquilaForCausalLM", "aquila", build_llama},
    {"XverseForCausalLM", "xverse", build_llama},
    {"MinistralForCausalLM", "ministral", build_mistral},
    {"Ministral3ForCausalLM", "ministral3", build_mistral},
    {"BaiChuanForCausalLM", "baichuan", build_baichuan},
    {"RWForCausalLM", "RefinedWebModel", build_falcon},
    {"RWForCausalLM", "RefinedWeb", build_falcon},
};

}  // namespace

std::span<const Family> language_families() { return kFamilies; }

}  // namespace kcharter
