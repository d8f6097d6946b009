#include "import/architecture/families/vision_families.h"

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

// As in family.cc: the first line of a model_type is the one for configurations that name no class.
constexpr Family kFamilies[] = {
    {"ConvNextForImageClassification", "convnext", build_convnext_classifier},
    {"ConvNextModel", "convnext", build_convnext},
    {"ConvNextV2ForImageClassification", "convnextv2", build_convnext2_classifier},
    {"SwinForImageClassification", "swin", build_swin_classifier},
    {"SwinModel", "swin", build_swin},
    {"SegformerForSemanticSegmentation", "segformer", build_segformer_segmentation},
    {"SegformerForImageClassification", "segformer", build_segformer_classifier},
    {"SegformerModel", "segformer", build_segformer},
    {"SamModel", "sam", build_sam},
    {"Blip2ForConditionalGeneration", "blip-2", build_blip2},
    {"SiglipModel", "siglip", build_siglip},
    {"SiglipTextModel", "siglip_text_model", build_siglip_text},
    {"SiglipVisionModel", "siglip_vision_model", build_siglip_vision},
    {"CLIPVisionModelWithProjection", "clip_vision_model", build_clip_vision_projection},
    {"StableDiffusionSafetyChecker", "", build_safety_checker},
    {"DeiTModel", "deit", build_deit},
    {"DeiTForImageClassificationWithTeacher", "deit", build_deit_distilled},
    {"BeitModel", "beit", build_beit},
    {"LlavaNextForConditionalGeneration", "llava_next", build_llava_next},
    {"LlavaLlamaForCausalLM", "llava_llama", build_llava_llama},
    {"MllamaForConditionalGeneration", "mllama", build_mllama},
    {"Idefics3ForConditionalGeneration", "idefics3", build_idefics3},
    {"VoxtralForConditionalGeneration", "voxtral", build_voxtral},
    {"Qwen2AudioForConditionalGeneration", "qwen2_audio", build_qwen2_audio},
    {"Llama4ForConditionalGeneration", "llama4", build_llama4_multimodal},
};

}  // namespace

std::span<const Family> vision_families() { return kFamilies; }

}  // namespace kcharter
