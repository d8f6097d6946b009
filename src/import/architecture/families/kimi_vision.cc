#include "import/architecture/families/kimi_vision.h"

#include "import/architecture/vision.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

Stack tower_stack(const ModelConfig& vision) {
  Stack stack;
  stack.layer_list = "encoder.blocks";
  stack.hidden_size = vision.require("hidden_size");
  bool rms = vision.text("norm_type", "layernorm") == "rmsnorm";
  stack.norm = {.kind = rms ? NormKind::kRms : NormKind::kLayer, .epsilon = 1e-5};
  Attention attention;
  attention.name.clear();
  attention.hidden_size = stack.hidden_size;
  attention.heads = attention.kv_heads = vision.require("num_attention_heads");
  if (attention.heads < 1) throw Error("'vt_num_attention_heads' is " + std::to_string(attention.heads));
  attention.head_dim = vision.integer("qkv_hidden_size", stack.hidden_size) / attention.heads;
  attention.fused = "wqkv";
  attention.output = "wo";
  attention.qkv_bias = attention.output_bias = vision.flag("attn_bias", true);
  attention.causal = attention.cached = false;
  FeedForward feed_forward;
  feed_forward.gate.clear();
  feed_forward.up = "fc0";
  feed_forward.down = "fc1";
  feed_forward.up_bias = feed_forward.down_bias = vision.flag("linear_bias", true);
  feed_forward.hidden_size = stack.hidden_size;
  feed_forward.intermediate_size = vision.require("intermediate_size");
  feed_forward.activation = vision.text("activation_func", "gelu_pytorch_tanh");
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.mixer_norm = "norm0";
  layer.feed_forward_norm = "norm1";
  stack.layers.assign(static_cast<size_t>(layers_of(vision)), layer);
  return stack;
}

// Patches of one frame of `height` by `width` patches, in the tower's scope.
ValueId run_tower(GraphBuilder& b, const ModelConfig& vision, const Stack& stack) {
  int64_t height = vision.integer("init_pos_emb_height", 64), width = vision.integer("init_pos_emb_width", 64);
  int64_t patch = vision.integer("patch_size", 14);
  ValueId x;
  {
    auto scope = b.scope("patch_embed");
    PatchEmbedding patches{.name = "proj", .hidden_size = stack.hidden_size, .image_size = height * patch,
                           .patch_size = patch, .bias = vision.flag("patch_embed_proj_bias", true)};
    x = embed_patches(b, patches);
    x = b.ours("AddInterpolated", {x, b.parameter("pos_emb.weight", {height, width, stack.hidden_size})});
  }
  x = build_layers(b, stack, x);
  return normalize(b, x, "encoder.final_layernorm", stack.hidden_size, stack.norm);
}

// Four patches become one token; the second version has no biases and its norm stands last.
ValueId project(GraphBuilder& b, const ModelConfig& vision, const Stack& stack, ValueId x, int64_t text_size) {
  auto scope = b.scope("mm_projector");
  std::vector<int64_t> kernel = vision.integers("merge_kernel_size");
  int64_t merged = kernel.size() == 2 ? kernel[0] * kernel[1] : 4;
  if (merged < 1 || merged > 1024) throw Error("'merge_kernel_size' makes " + std::to_string(merged) + " patches one");
  bool second = vision.text("mm_projector_type") == "patchmergerv2";
  int64_t size = stack.hidden_size * merged;
  if (!second) x = normalize(b, x, "pre_norm", stack.hidden_size, {.kind = NormKind::kLayer, .epsilon = 1e-5});
  x = merge_neighbours(b, x, merged);
  x = linear(b, x, {"proj.0", size, size, !second});
  x = activate(b, x, vision.text("projector_hidden_act", "gelu"));
  x = linear(b, x, {"proj.2", size, text_size, !second});
  return second ? normalize(b, x, "post_norm", text_size, {.kind = NormKind::kRms, .epsilon = 1e-5}) : x;
}

}  // namespace

void add_kimi_tower(GraphBuilder& builder, Decoder& decoder, const ModelConfig& config) {
  if (!config.has("vision_config")) return;
  ModelConfig vision = config.section("vision_config");
  Stack stack = tower_stack(vision);
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    ValueId x;
    {
      auto scope = b.scope("vision_tower");
      x = run_tower(b, vision, stack);
    }
    return project(b, vision, stack, x, decoder.hidden_size);
  });
}

}  // namespace kcharter
