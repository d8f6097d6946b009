// Families that look at images, and the table of their names.
#pragma once

#include <span>

#include "import/architecture/convolution.h"
#include "import/architecture/family.h"
#include "import/architecture/vision.h"

namespace kcharter {

std::span<const Family> vision_families();

// convnext.cc
void build_convnext(GraphBuilder& builder, const ModelConfig& config);
void build_convnext_classifier(GraphBuilder& builder, const ModelConfig& config);
void build_convnext2_classifier(GraphBuilder& builder, const ModelConfig& config);
// swin.cc
void build_swin(GraphBuilder& builder, const ModelConfig& config);
void build_swin_classifier(GraphBuilder& builder, const ModelConfig& config);
// segformer.cc
void build_segformer(GraphBuilder& builder, const ModelConfig& config);
void build_segformer_classifier(GraphBuilder& builder, const ModelConfig& config);
void build_segformer_segmentation(GraphBuilder& builder, const ModelConfig& config);
// sam.cc
void build_sam(GraphBuilder& builder, const ModelConfig& config);
// blip2.cc
void build_blip2(GraphBuilder& builder, const ModelConfig& config);
// siglip.cc
// The image encoder up to its last norm, in the scope of "vision_model".
ValueId run_siglip_patches(GraphBuilder& builder, const ModelConfig& vision,
                           const VisionSizes& sizes);
void build_siglip(GraphBuilder& builder, const ModelConfig& config);
void build_siglip_text(GraphBuilder& builder, const ModelConfig& config);
void build_siglip_vision(GraphBuilder& builder, const ModelConfig& config);
// gemma_audio.cc
ValueId run_gemma4_audio(GraphBuilder& builder, const ModelConfig& config, int64_t text_size);
// mllama.cc
void build_mllama(GraphBuilder& builder, const ModelConfig& config);
// multimodal.cc
void build_idefics3(GraphBuilder& builder, const ModelConfig& config);
void build_voxtral(GraphBuilder& builder, const ModelConfig& config);
void build_qwen2_audio(GraphBuilder& builder, const ModelConfig& config);
void build_llava_llama(GraphBuilder& builder, const ModelConfig& config);
void build_llama4_multimodal(GraphBuilder& builder, const ModelConfig& config);
// llava.cc
void build_llava_next(GraphBuilder& builder, const ModelConfig& config);
void build_clip_vision_projection(GraphBuilder& builder, const ModelConfig& config);
void build_safety_checker(GraphBuilder& builder, const ModelConfig& config);
// vit.cc
void build_deit(GraphBuilder& builder, const ModelConfig& config);
void build_deit_distilled(GraphBuilder& builder, const ModelConfig& config);
void build_beit(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
