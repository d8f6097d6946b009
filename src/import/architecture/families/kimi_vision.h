// MoonViT-3D: the vision tower of Kimi K2.5 and K3, and its projector.
#pragma once

#include "import/architecture/decoder.h"
#include "import/architecture/model_config.h"

namespace kcharter {

// Reads "vision_config"; nothing without one.
void add_kimi_tower(GraphBuilder& builder, Decoder& decoder, const ModelConfig& config);

}  // namespace kcharter
