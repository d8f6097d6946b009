// Vision towers: an image becomes patches, runs through an encoder and joins the tokens of a text.
// In decode a tower's weights are there but do not run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "import/architecture/decoder.h"

namespace kcharter {

// An encoder of the kind that CLIP, SigLIP and ViT share: attention in both directions, norms before
// the blocks, biases everywhere.
struct VisionSizes {
  int64_t hidden_size = 0, intermediate_size = 0, layers = 0, heads = 0;
  std::string activation;
  double epsilon = 1e-5;
};
// `activation`: where the configuration gives none.
VisionSizes vision_sizes_of(const ModelConfig& config, std::string_view activation);
// Names of CLIP: encoder.layers, self_attn, mlp.fc1 …
Stack vision_stack(const VisionSizes& sizes);

// Pixels [images, channels, size, size] → [images, patches, hidden] by a convolution of stride `patch`.
struct PatchEmbedding {
  std::string name = "embeddings.patch_embedding";
  int64_t hidden_size = 0, channels = 3, image_size = 224, patch_size = 16;
  bool bias = true;
  int64_t patches() const { return (image_size / patch_size) * (image_size / patch_size); }
};
ValueId embed_patches(GraphBuilder& builder, const PatchEmbedding& part, std::string_view input = "pixel_values");

// Images [images, channels, height, width] of any size; `size` is the default of both.
ValueId image_input(GraphBuilder& builder, int64_t channels, int64_t size, std::string_view name = "pixel_values");
// Lists with one entry for each stage of a network: as many in each, none of them negative.
void check_stages(const std::vector<std::vector<int64_t>>& lists);

// A learned vector [1, 1, size] or [size] put in front of all tokens.
ValueId prepend_token(GraphBuilder& builder, ValueId x, std::string_view name, std::vector<int64_t> dims);
// A learned table added to every sequence, as it is stored.
ValueId add_table(GraphBuilder& builder, ValueId x, std::string_view name, std::vector<int64_t> dims);
// [B, T, H] → [B, T/n, H·n].
ValueId merge_neighbours(GraphBuilder& builder, ValueId x, int64_t count);

// Writes the tower's nodes in prefill, its tensors alone in decode, before the decoder's own graph;
// its output replaces embeddings of the text in before_layers. `tower` opens its own scopes.
void add_tower(GraphBuilder& builder, Decoder& decoder, const std::function<ValueId(GraphBuilder&)>& tower);

}  // namespace kcharter
