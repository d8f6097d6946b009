// Networks of diffusers: denoisers and autoencoders, and the table of their names.
#pragma once

#include <span>

#include "import/architecture/family.h"

namespace kcharter {

std::span<const Family> diffusion_families();

// unet.cc
void build_unet(GraphBuilder& builder, const ModelConfig& config);
// autoencoder_kl.cc
void build_autoencoder_kl(GraphBuilder& builder, const ModelConfig& config);
void build_autoencoder_kl_flux2(GraphBuilder& builder, const ModelConfig& config);
// flux.cc
void build_flux(GraphBuilder& builder, const ModelConfig& config);
void build_flux2(GraphBuilder& builder, const ModelConfig& config);
void build_qwen_image(GraphBuilder& builder, const ModelConfig& config);
void build_sd3(GraphBuilder& builder, const ModelConfig& config);
// minimax_h3.cc
void build_minimax_h3_authors(GraphBuilder& builder, const ModelConfig& config);
void build_minimax_h3_diffusers(GraphBuilder& builder, const ModelConfig& config);
// mochi.cc
void build_mochi(GraphBuilder& builder, const ModelConfig& config);

}  // namespace kcharter
