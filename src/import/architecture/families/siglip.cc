// SigLIP: CLIP's blocks without a class token; a learned probe gathers the image.
#include "import/architecture/families/families.h"
#include "import/architecture/families/vision_families.h"

namespace kcharter {
namespace {

constexpr const char* kText =
    R"({"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
  "num_attention_heads": 12, "vocab_size": 32000, "max_position_embeddings": 64, "layer_norm_eps": 1e-6})";
constexpr const char* kVision =
    R"({"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
  "num_attention_heads": 12, "image_size": 224, "patch_size": 16, "layer_norm_eps": 1e-6})";

ModelConfig text_of(const ModelConfig& config) {
  return config.with_defaults(ModelConfig::parse(kText));
}
ModelConfig vision_of(const ModelConfig& config) {
  return config.with_defaults(ModelConfig::parse(kVision));
}

// Queries of one token, keys and values of all: one stored matrix.
ValueId gather_by_probe(GraphBuilder& b, ValueId x, const VisionSizes& sizes) {
  auto scope = b.scope("head");
  int64_t size = sizes.hidden_size;
  ValueId probe = b.parameter("probe", {1, 1, size});
  {
    auto attention = b.scope("attention");
    std::vector<ValueId> matrix = b.split(
        b.parameter("in_proj_weight", {3 * size, size}, {size, 3 * size}), {size, 2 * size});
    std::vector<ValueId> bias = b.split(b.parameter("in_proj_bias", {3 * size}), {size, 2 * size});
    ValueId q =
        b.op("Add", {b.op("MatMul", {b.ours("RepeatTokens", {probe, x}), matrix[0]}), bias[0]});
    std::vector<ValueId> seen =
        b.split(b.op("Add", {b.op("MatMul", {x, matrix[1]}), bias[1]}), {size, size});
    x = attend_to_all(b, q, seen[0], seen[1], sizes.heads, size / sizes.heads);
    x = linear(b, x, {"out_proj", size, size, true});
  }
  ValueId normal =
      normalize(b, x, "layernorm", size, {.kind = NormKind::kLayer, .epsilon = sizes.epsilon});
  FeedForward feed_forward = *vision_stack(sizes).layers.at(0).feed_forward.target<FeedForward>();
  return b.op("Add", {x, feed_forward(b, normal, 0)});
}

ValueId run_vision(GraphBuilder& b, const ModelConfig& vision) {
  VisionSizes sizes = vision_sizes_of(vision, "gelu_pytorch_tanh");
  ValueId x = run_siglip_patches(b, vision, sizes);
  return vision.flag("vision_use_head", true) ? gather_by_probe(b, x, sizes) : x;
}

ValueId run_text(GraphBuilder& b, const ModelConfig& text) {
  auto scope = b.scope("text_model");
  VisionSizes sizes = vision_sizes_of(text, "gelu_pytorch_tanh");
  Shape shape = {b.batch(), b.tokens()};
  ValueId ids = b.input("input_ids", DType::kInt64, shape),
          positions = b.input("position_ids", DType::kInt64, shape);
  ValueId x =
      embed(b, "embeddings.token_embedding", text.require("vocab_size"), sizes.hidden_size, ids)
          .rows;
  x = b.op("Add", {x, embed(b, "embeddings.position_embedding",
                            text.require("max_position_embeddings"), sizes.hidden_size, positions)
                          .rows});
  Stack stack = vision_stack(sizes);
  x = normalize(b, build_layers(b, stack, x), "final_layer_norm", sizes.hidden_size, stack.norm);
  return linear(
      b, b.ours("LastToken", {x}),
      {"head", sizes.hidden_size, text.integer("projection_size", sizes.hidden_size), true});
}

}  // namespace

ValueId run_siglip_patches(GraphBuilder& b, const ModelConfig& vision, const VisionSizes& sizes) {
  PatchEmbedding patches{.hidden_size = sizes.hidden_size,
                         .channels = vision.integer("num_channels", 3),
                         .image_size = vision.integer("image_size", 224),
                         .patch_size = vision.integer("patch_size", 16)};
  ValueId x = embed_patches(b, patches);
  x = add_table(b, x, "embeddings.position_embedding.weight",
                {patches.patches(), sizes.hidden_size});
  x = build_layers(b, vision_stack(sizes), x);
  return normalize(b, x, "post_layernorm", sizes.hidden_size,
                   {.kind = NormKind::kLayer, .epsilon = sizes.epsilon});
}

void build_siglip(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = text_of(config.section("text_config"));
  ValueId words = run_text(builder, text);
  ValueId image;
  {
    auto scope = builder.scope("vision_model");
    image = run_vision(builder, vision_of(config.section("vision_config")));
  }
  std::vector<ValueId> inputs = {words, image, builder.parameter("logit_scale", {1}),
                                 builder.parameter("logit_bias", {1})};
  builder.output(builder.ours("Similarity", std::move(inputs),
                              {attribute("size", text.require("hidden_size"))}));
}

void build_siglip_text(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run_text(builder, text_of(config)));
}

void build_siglip_vision(GraphBuilder& builder, const ModelConfig& config) {
  auto scope = builder.scope("vision_model");
  builder.output(run_vision(builder, vision_of(config)));
}

}  // namespace kcharter
