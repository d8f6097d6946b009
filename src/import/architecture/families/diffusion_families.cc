#include "import/architecture/families/diffusion_families.h"

namespace kcharter {
namespace {

// diffusers writes a class, never a model_type.
constexpr Family kFamilies[] = {
    {"UNet2DConditionModel", "", build_unet},
    {"AutoencoderKL", "", build_autoencoder_kl},
    {"AutoencoderKLFlux2", "", build_autoencoder_kl_flux2},
    {"MiniMaxH3DiTModel", "", build_minimax_h3_authors},
    {"MiniMaxH3Transformer3DModel", "", build_minimax_h3_diffusers},
    {"MochiTransformer3DModel", "", build_mochi},
    {"FluxTransformer2DModel", "", build_flux},
    {"Flux2Transformer2DModel", "", build_flux2},
    {"QwenImageTransformer2DModel", "", build_qwen_image},
    {"SD3Transformer2DModel", "", build_sd3},
};

}  // namespace

std::span<const Family> diffusion_families() { return kFamilies; }

}  // namespace kcharter
