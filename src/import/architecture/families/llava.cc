// LLaVA: CLIP, two linear layers, a Llama. Also CLIP's own models.
#include "import/architecture/families/families.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

ValueId run_clip_vision(GraphBuilder& b, const ModelConfig& vision, bool pooled) {
  VisionSizes sizes = vision_sizes_of(vision, "quick_gelu");
  Norm norm{.kind = NormKind::kLayer, .epsilon = sizes.epsilon};
  PatchEmbedding patches{.hidden_size = sizes.hidden_size,
                         .channels = vision.integer("num_channels", 3),
                         .image_size = vision.integer("image_size", 224),
                         .patch_size = vision.integer("patch_size", 32),
                         .bias = false};
  ValueId x = embed_patches(b, patches);
  x = prepend_token(b, x, "embeddings.class_embedding", {sizes.hidden_size});
  x = add_table(b, x, "embeddings.position_embedding.weight",
                {patches.patches() + 1, sizes.hidden_size});
  x = normalize(b, x, "pre_layrnorm", sizes.hidden_size, norm);  // the name is spelled so
  x = build_layers(b, vision_stack(sizes), x);
  if (pooled) x = b.ours("FirstToken", {x});
  return normalize(b, x, "post_layernorm", sizes.hidden_size, norm);
}

ModelConfig clip_vision_defaults() {
  return ModelConfig::parse(
      R"({"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
    "num_attention_heads": 16, "image_size": 336, "patch_size": 14})");
}

}  // namespace

void build_llava(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.section("text_config");
  std::string kind = text.text("model_type", "llama");
  if (kind != "llama" && kind != "vicuna" && kind != "mistral") {
    throw Error("text model '" + kind + "' inside LLaVA is not known");
  }
  text = text.with_defaults(ModelConfig::parse(R"({"hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000})"));
  Decoder decoder = decoder_of(text);
  decoder.model = "language_model.model";
  decoder.head = "language_model.lm_head";
  ModelConfig vision = config.section("vision_config").with_defaults(clip_vision_defaults());
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    ValueId x;
    {
      auto scope = b.scope("vision_tower.vision_model");
      x = run_clip_vision(b, vision, false);
    }
    auto projector = b.scope("multi_modal_projector");
    bool bias = config.flag("multimodal_projector_bias", true);
    x = linear(b, x, {"linear_1", vision.require("hidden_size"), decoder.hidden_size, bias});
    x = activate(b, x, config.text("projector_hidden_act", "gelu"));
    return linear(b, x, {"linear_2", decoder.hidden_size, decoder.hidden_size, bias});
  });
  build(builder, decoder);
}

// Rows of tiles end in a learned token.
void build_llava_next(GraphBuilder& builder, const ModelConfig& config) {
  {
    GraphBuilder::Silence between_rows(builder);
    builder.parameter("image_newline",
                      {config.section("text_config").integer("hidden_size", 4096)});
  }
  build_llava(builder, config);
}

namespace {

// A causal encoder; the hidden state of the last token stands for the text.
ValueId run_clip_text(GraphBuilder& b, const ModelConfig& text) {
  VisionSizes sizes = vision_sizes_of(text, "quick_gelu");
  Shape ids_shape = {b.batch(), b.tokens()};
  ValueId ids = b.input("input_ids", DType::kInt64, ids_shape);
  ValueId positions = b.input("position_ids", DType::kInt64, ids_shape);
  auto scope = b.scope("text_model");
  ValueId x = embed(b, "embeddings.token_embedding", text.integer("vocab_size", 49408),
                    sizes.hidden_size, ids)
                  .rows;
  x = b.op("Add",
           {x, embed(b, "embeddings.position_embedding",
                     text.integer("max_position_embeddings", 77), sizes.hidden_size, positions)
                   .rows});
  Stack stack = vision_stack(sizes);
  for (Layer& layer : stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    attention.causal = true;
    layer.mixer = attention;
  }
  x = build_layers(b, stack, x);
  return normalize(b, x, "final_layer_norm", sizes.hidden_size, stack.norm);
}

constexpr const char* kClipText =
    R"({"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12,
  "num_attention_heads": 8})";
constexpr const char* kClipVision =
    R"({"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
  "num_attention_heads": 12, "image_size": 224, "patch_size": 32})";

}  // namespace

void build_clip(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.section("text_config").with_defaults(ModelConfig::parse(kClipText));
  ModelConfig vision =
      config.section("vision_config").with_defaults(ModelConfig::parse(kClipVision));
  int64_t shared = config.integer("projection_dim", 512);
  ValueId words = builder.ours("LastToken", {run_clip_text(builder, text)});
  words = linear(builder, words, {"text_projection", text.require("hidden_size"), shared});
  ValueId image;
  {
    auto scope = builder.scope("vision_model");
    image = run_clip_vision(builder, vision, true);
  }
  image = linear(builder, image, {"visual_projection", vision.require("hidden_size"), shared});
  builder.output(builder.ours("Similarity", {words, image, builder.parameter("logit_scale", {})},
                              {attribute("size", shared)}));
}

void build_clip_text(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run_clip_text(builder, config));
}

void build_clip_text_projection(GraphBuilder& builder, const ModelConfig& config) {
  ValueId words = builder.ours("LastToken", {run_clip_text(builder, config)});
  builder.output(linear(
      builder, words,
      {"text_projection", config.require("hidden_size"), config.integer("projection_dim", 512)}));
}

void build_clip_vision(GraphBuilder& builder, const ModelConfig& config) {
  auto scope = builder.scope("vision_model");
  builder.output(run_clip_vision(builder, config, true));
}

void build_clip_vision_projection(GraphBuilder& builder, const ModelConfig& config) {
  build_clip_vision(builder, config);
  ValueId pooled = builder.graph().outputs.front();
  builder.graph().outputs.clear();
  builder.output(linear(
      builder, pooled,
      {"visual_projection", config.require("hidden_size"), config.integer("projection_dim", 512)}));
}

// The image against fixed vectors of what is not wanted.
void build_safety_checker(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig vision =
      config.section("vision_config").with_defaults(ModelConfig::parse(kClipVision));
  int64_t width = config.integer("projection_dim", 512);
  ValueId image;
  {
    auto scope = builder.scope("vision_model.vision_model");
    image = run_clip_vision(builder, vision, true);
  }
  image = linear(builder, image, {"visual_projection", vision.require("hidden_size"), width});
  for (const auto& [name, count] :
       {std::pair{"special_care_embeds", 3}, std::pair{"concept_embeds", 17}}) {
    ValueId close =
        builder.op("MatMul", {image, builder.parameter(name, {count, width}, {width, count})});
    builder.output(
        builder.op("Sub", {close, builder.parameter(std::string(name) + "_weights", {count})}));
  }
}

}  // namespace kcharter
