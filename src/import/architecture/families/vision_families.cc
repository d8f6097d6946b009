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
};

}  // namespace

std::span<const Family> vision_families() { return kFamilies; }

}  // namespace kcharter
