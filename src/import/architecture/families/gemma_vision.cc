// Gemma 3 and 4 with their vision towers.
#include "import/architecture/families/families.h"
#include "import/architecture/families/vision_families.h"

namespace kcharter {
namespace {

ModelConfig text_of(const ModelConfig& config) { return config.section("text_config"); }

// SigLIP at one size, pooled to a fixed number of tokens.
ValueId run_gemma3_tower(GraphBuilder& b, const ModelConfig& config, int64_t text_size) {
  ModelConfig vision = config.section("vision_config");
  VisionSizes sizes = vision_sizes_of(vision, "gelu_pytorch_tanh");
  sizes.epsilon = vision.number("layer_norm_eps", 1e-6);
  PatchEmbedding patches{.hidden_size = sizes.hidden_size,
                         .image_size = vision.integer("image_size", 224),
                         .patch_size = vision.integer("patch_size", 16)};
  ValueId x;
  {
    auto scope = b.scope("vision_tower.vision_model");
    x = embed_patches(b, patches);
    x = add_table(b, x, "embeddings.position_embedding.weight",
                  {patches.patches(), sizes.hidden_size});
    x = build_layers(b, vision_stack(sizes), x);
    x = normalize(b, x, "post_layernorm", sizes.hidden_size, {.kind = NormKind::kLayer});
  }
  auto projector = b.scope("multi_modal_projector");
  x = b.ours("PoolTokens", {x}, {attribute("tokens", config.integer("mm_tokens_per_image", 256))});
  x = normalize(b, x, "mm_soft_emb_norm", sizes.hidden_size, {.kind = NormKind::kRms});
  return b.op("MatMul",
              {x, b.parameter("mm_input_projection_weight", {sizes.hidden_size, text_size})});
}

Stack gemma4_vision_stack(const ModelConfig& vision) {
  Stack stack;
  stack.layer_list = "encoder.layers";
  stack.hidden_size = vision.require("hidden_size");
  stack.norm = rms_norm_of(vision);
  Attention attention = attention_of(vision);
  attention.query = "q_proj.linear";
  attention.key = "k_proj.linear";
  attention.value = "v_proj.linear";
  attention.output = "o_proj.linear";
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.value_norm = true;
  attention.causal = attention.cached = false;
  FeedForward feed_forward = feed_forward_of(vision);
  feed_forward.gate = "gate_proj.linear";
  feed_forward.up = "up_proj.linear";
  feed_forward.down = "down_proj.linear";
  feed_forward.activation = vision.text("hidden_act", "gelu_pytorch_tanh");
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.after_mixer_norm = "post_attention_layernorm";
  layer.feed_forward_norm = "pre_feedforward_layernorm";
  layer.after_feed_forward_norm = "post_feedforward_layernorm";
  stack.layers.assign(static_cast<size_t>(layers_of(vision)), layer);
  return stack;
}

// Patches of any image, pooled 3 × 3.
ValueId run_gemma4_tower(GraphBuilder& b, const ModelConfig& config, int64_t text_size) {
  ModelConfig vision = config.section("vision_config");
  Stack stack = gemma4_vision_stack(vision);
  int64_t patch = vision.integer("patch_size", 16), pool = vision.integer("pooling_kernel_size", 3);
  int64_t elements = 3 * patch * patch;
  ValueId x;
  if (!b.silent()) {
    int64_t patches = vision.integer("default_output_length", 280) * pool * pool;
    x = b.input("pixel_values", b.activation_dtype(),
                {b.batch(), b.variable("image_patches", "Patches of the image", patches, 0),
                 Expr(elements)});
  }
  {
    auto scope = b.scope("model.vision_tower");
    {
      auto embedder = b.scope("patch_embedder");
      x = linear(b, x, {"input_proj", elements, stack.hidden_size});
      ValueId table =
          b.parameter("position_embedding_table",
                      {2, vision.integer("position_embedding_size", 10240), stack.hidden_size});
      x = b.ours("AddInterpolated", {x, table});
    }
    x = build_layers(b, stack, x);
    x = b.ours("PoolNeighbours", {x}, {attribute("count", pool * pool)});
    if (vision.flag("standardize", false)) {
      x = b.op("Add", {x, b.buffer_value("std_bias", {stack.hidden_size})});
      x = b.op("Mul", {x, b.buffer_value("std_scale", {stack.hidden_size})});
    }
  }
  auto projector = b.scope("model.embed_vision");
  x = b.ours("RMSNormalization", {x}, {attribute("axis", int64_t{-1})});
  return linear(b, x, {"embedding_projection", stack.hidden_size, text_size});
}

}  // namespace

void build_gemma3(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gemma3_decoder(text_of(config));
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
  if (config.has("vision_config")) {
    add_tower(builder, decoder,
              [&](GraphBuilder& b) { return run_gemma3_tower(b, config, decoder.hidden_size); });
  }
  build(builder, decoder);
}

void build_gemma4(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = gemma4_decoder(text_of(config));
  decoder.model = "model.language_model";
  if (config.has("vision_config")) {
    add_tower(builder, decoder,
              [&](GraphBuilder& b) { return run_gemma4_tower(b, config, decoder.hidden_size); });
  }
  if (config.has("audio_config")) {
    add_tower(builder, decoder, [&](GraphBuilder& b) {
      return run_gemma4_audio(b, config.section("audio_config"), decoder.hidden_size);
    });
  }
  build(builder, decoder);
}

}  // namespace kcharter
