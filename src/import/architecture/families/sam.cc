// SAM: an image encoder with windows and relative positions, prompts as tokens, a decoder of masks.
#include <algorithm>

#include "import/architecture/convolution.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Encoder {
  VisionSizes sizes;
  int64_t inner = 0, image_size = 1024, patch = 16, channels = 3, window = 14, out = 256;
  bool qkv_bias = true, positions = true, relative = true;
  std::vector<int64_t> global;
  int64_t side() const { return image_size / patch; }
};

Encoder encoder_of(const ModelConfig& config) {
  Encoder encoder;
  ModelConfig vision = config.with_defaults(ModelConfig::parse(
      R"({"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12})"));
  encoder.sizes = vision_sizes_of(vision, "gelu");
  encoder.sizes.epsilon = vision.number("layer_norm_eps", 1e-6);
  double ratio = vision.number("mlp_ratio", 4);
  encoder.inner = vision.integer(
      "mlp_dim", static_cast<int64_t>(ratio * static_cast<double>(encoder.sizes.hidden_size)));
  encoder.image_size = vision.integer("image_size", 1024);
  encoder.patch = vision.integer("patch_size", 16);
  encoder.channels = vision.integer("num_channels", 3);
  encoder.window = vision.integer("window_size", 14);
  encoder.out = vision.integer("output_channels", 256);
  encoder.qkv_bias = vision.flag("qkv_bias", true);
  encoder.positions = vision.flag("use_abs_pos", true);
  encoder.relative = vision.flag("use_rel_pos", true);
  encoder.global = vision.integers("global_attn_indexes");
  if (encoder.global.empty()) encoder.global = {2, 5, 8, 11};
  if (encoder.patch < 1 || encoder.side() < 1)
    throw Error("'patch_size' is larger than the image or below 1");
  return encoder;
}

// `window` 0: the whole grid.
ValueId attend(GraphBuilder& b, const Encoder& encoder, ValueId x, int64_t window) {
  auto scope = b.scope("attn");
  int64_t size = encoder.sizes.hidden_size, heads = encoder.sizes.heads, head_dim = size / heads;
  int64_t side = encoder.side(), seen = window > 0 ? window : side;
  int64_t padded = (side + seen - 1) / seen * seen;
  if (padded != side) x = b.ours("PadTokens", {x}, {attribute("tokens", padded * padded)});
  std::vector<ValueId> parts =
      b.split(linear(b, x, {"qkv", size, 3 * size, encoder.qkv_bias}), {size, size, size});
  ValueId scores;
  if (encoder.relative) {
    ValueId rows = b.parameter("rel_pos_h", {2 * seen - 1, head_dim});
    ValueId columns = b.parameter("rel_pos_w", {2 * seen - 1, head_dim});
    scores = b.ours(
        "RelativeScores", {parts[0], rows, columns},
        {attribute("num_heads", heads), attribute("rows", seen), attribute("columns", seen)});
  }
  x = attend_to_all(b, parts[0], parts[1], parts[2], heads, head_dim, seen * seen, scores);
  x = linear(b, x, {"proj", size, size, true});
  return padded == side ? x : b.ours("PadTokens", {x}, {attribute("tokens", side * side)});
}

ValueId feed_forward(GraphBuilder& b, ValueId x, int64_t size, int64_t inner,
                     const std::string& activation) {
  auto scope = b.scope("mlp");
  x = activate(b, linear(b, x, {"lin1", size, inner, true}), activation);
  return linear(b, x, {"lin2", inner, size, true});
}

ValueId run_encoder(GraphBuilder& b, const Encoder& encoder) {
  int64_t size = encoder.sizes.hidden_size, side = encoder.side();
  Norm norm{.kind = NormKind::kLayer, .epsilon = encoder.sizes.epsilon};
  PatchEmbedding patches{.name = "patch_embed.projection",
                         .hidden_size = size,
                         .channels = encoder.channels,
                         .image_size = encoder.image_size,
                         .patch_size = encoder.patch};
  ValueId x = embed_patches(b, patches);
  if (encoder.positions) {
    x = b.op("Add", {x, b.parameter("pos_embed", {1, side, side, size}, {1, side * side, size})});
  }
  for (int64_t i = 0; i < encoder.sizes.layers; ++i) {
    auto scope = b.scope("layers", i);
    bool global =
        std::find(encoder.global.begin(), encoder.global.end(), i) != encoder.global.end();
    ValueId normal = normalize(b, x, "layer_norm1", size, norm);
    x = b.op("Add", {x, attend(b, encoder, normal, global ? 0 : encoder.window)});
    normal = normalize(b, x, "layer_norm2", size, norm);
    x = b.op("Add", {x, feed_forward(b, normal, size, encoder.inner, encoder.sizes.activation)});
  }
  auto neck = b.scope("neck");
  x = b.ours("ToSquareGrid", {x}, {attribute("side", side)});
  x = convolve(b, x, {.name = "conv1", .in = size, .out = encoder.out, .bias = false});
  x = normalize_points(b, x, "layer_norm1", encoder.out);
  x = convolve(b, x,
               {.name = "conv2",
                .in = encoder.out,
                .out = encoder.out,
                .kernel = 3,
                .padding = 1,
                .bias = false});
  return normalize_points(b, x, "layer_norm2", encoder.out);
}

// One learned vector, as an embedding of one row.
ValueId vector_of(GraphBuilder& b, std::string_view name, int64_t rows, int64_t size) {
  auto scope = b.scope(name);
  return b.parameter("weight", {rows, size});
}

// Points as tokens; a mask is optional, and without one a learned vector takes its place.
ValueId run_prompts(GraphBuilder& b, const ModelConfig& config, int64_t size, int64_t features) {
  auto scope = b.scope("prompt_encoder");
  Expr points = b.variable("point_count", "Points of a prompt", 1);
  ValueId coordinates =
      b.input("input_points", b.activation_dtype(), {b.batch(), points + 1, Expr(2)});
  b.buffer("shared_embedding.positional_embedding", {2, features}, b.options().dtype);
  int64_t kinds = config.integer("num_point_embeddings", 4),
          wide = config.integer("mask_input_channels", 16);
  std::vector<ValueId> inputs = {coordinates};
  for (int64_t i = 0; i < kinds; ++i)
    inputs.push_back(vector_of(b, "point_embed." + std::to_string(i), 1, size));
  inputs.push_back(vector_of(b, "not_a_point_embed", 1, size));
  {
    GraphBuilder::Silence no_mask_given(b);
    auto masks = b.scope("mask_embed");
    convolve(b, {}, {.name = "conv1", .in = 1, .out = wide / 4, .kernel = 2, .stride = 2});
    normalize_points(b, {}, "layer_norm1", wide / 4);
    convolve(b, {}, {.name = "conv2", .in = wide / 4, .out = wide, .kernel = 2, .stride = 2});
    normalize_points(b, {}, "layer_norm2", wide);
    convolve(b, {}, {.name = "conv3", .in = wide, .out = size});
  }
  return b.ours("EmbedPoints", std::move(inputs), {attribute("size", size)});
}

struct MaskDecoder {
  int64_t size = 256, heads = 8, inner = 2048, layers = 2, narrower = 2, outputs = 3,
          iou_layers = 3, iou_size = 256;
  std::string activation;
  Norm norm;
};

MaskDecoder mask_decoder_of(const ModelConfig& config) {
  MaskDecoder part;
  part.size = config.integer("hidden_size", 256);
  part.heads = config.integer("num_attention_heads", 8);
  part.inner = config.integer("mlp_dim", 2048);
  part.layers = config.integer("num_hidden_layers", 2);
  part.narrower = config.integer("attention_downsample_rate", 2);
  part.outputs = config.integer("num_multimask_outputs", 3) + 1;
  part.iou_layers = config.integer("iou_head_depth", 3);
  part.iou_size = config.integer("iou_head_hidden_dim", 256);
  part.activation = config.text("hidden_act", "relu");
  part.norm = {.kind = NormKind::kLayer, .epsilon = config.number("layer_norm_eps", 1e-6)};
  if (part.heads < 1 || part.narrower < 1 || part.layers > 1000 || part.outputs > 1000 ||
      part.iou_layers > 1000) {
    throw Error("sizes of the mask decoder are out of range");
  }
  return part;
}

ValueId cross(GraphBuilder& b, const MaskDecoder& part, std::string_view name, ValueId x,
              ValueId seen, bool narrow) {
  auto scope = b.scope(name);
  int64_t width = narrow ? part.size / part.narrower : part.size;
  ValueId q = linear(b, x, {"q_proj", part.size, width, true});
  ValueId k = linear(b, seen, {"k_proj", part.size, width, true});
  ValueId v = linear(b, seen, {"v_proj", part.size, width, true});
  x = attend_to_all(b, q, k, v, part.heads, width / part.heads);
  return linear(b, x, {"out_proj", width, part.size, true});
}

struct Both {
  ValueId tokens, image;
};

Both run_two_ways(GraphBuilder& b, const MaskDecoder& part, Both x) {
  auto scope = b.scope("transformer");
  auto sum = [&](ValueId a, ValueId change, const char* name) {
    return normalize(b, b.op("Add", {a, change}), name, part.size, part.norm);
  };
  for (int64_t i = 0; i < part.layers; ++i) {
    auto layer = b.scope("layers", i);
    x.tokens = sum(x.tokens, cross(b, part, "self_attn", x.tokens, x.tokens, false), "layer_norm1");
    x.tokens = sum(x.tokens, cross(b, part, "cross_attn_token_to_image", x.tokens, x.image, true),
                   "layer_norm2");
    x.tokens = sum(x.tokens, feed_forward(b, x.tokens, part.size, part.inner, part.activation),
                   "layer_norm3");
    x.image = sum(x.image, cross(b, part, "cross_attn_image_to_token", x.image, x.tokens, true),
                  "layer_norm4");
  }
  x.tokens = sum(x.tokens, cross(b, part, "final_attn_token_to_image", x.tokens, x.image, true),
                 "layer_norm_final_attn");
  return x;
}

// Linear layers with ReLU between them: proj_in, layers …, proj_out.
ValueId run_head(GraphBuilder& b, ValueId x, const std::string& name, int64_t in, int64_t inner,
                 int64_t out, int64_t layers) {
  auto scope = b.scope(name);
  x = activate(b, linear(b, x, {"proj_in", in, inner, true}), "relu");
  for (int64_t i = 0; i + 2 < layers; ++i) {
    x = activate(b, linear(b, x, {"layers." + std::to_string(i), inner, inner, true}), "relu");
  }
  return linear(b, x, {"proj_out", inner, out, true});
}

ValueId run_masks(GraphBuilder& b, const MaskDecoder& part, ValueId prompts, ValueId image) {
  auto scope = b.scope("mask_decoder");
  ValueId own = b.op("Concat",
                     {vector_of(b, "iou_token", 1, part.size),
                      vector_of(b, "mask_tokens", part.outputs, part.size)},
                     {attribute("axis", int64_t{0})});
  ValueId tokens = b.op("Concat", {b.ours("RepeatTokens", {own, prompts}), prompts},
                        {attribute("axis", int64_t{1})});
  Both x = run_two_ways(b, part, {tokens, grid_to_tokens(b, image)});
  ValueId grid = tokens_to_grid(b, x.image, image);
  grid = convolve_transposed(
      b, grid,
      {.name = "upscale_conv1", .in = part.size, .out = part.size / 4, .kernel = 2, .stride = 2});
  grid = activate(b, normalize_points(b, grid, "upscale_layer_norm", part.size / 4), "gelu");
  grid = convolve_transposed(b, grid,
                             {.name = "upscale_conv2",
                              .in = part.size / 4,
                              .out = part.size / 8,
                              .kernel = 2,
                              .stride = 2});
  ValueId points = grid_to_tokens(b, activate(b, grid, "gelu"));
  ValueId first = b.ours("FirstToken", {x.tokens});
  std::vector<ValueId> filters;
  for (int64_t i = 0; i < part.outputs; ++i) {
    filters.push_back(run_head(b, first, "output_hypernetworks_mlps." + std::to_string(i),
                               part.size, part.size, part.size / 8, 3));
  }
  run_head(b, first, "iou_prediction_head", part.size, part.iou_size, part.outputs,
           part.iou_layers);
  ValueId all = b.op("Concat", filters, {attribute("axis", int64_t{1})});
  return b.op("MatMul", {points, b.op("Transpose", {all},
                                      {attribute("perm", std::vector<int64_t>{0, 2, 1})})});
}

}  // namespace

void build_sam(GraphBuilder& builder, const ModelConfig& config) {
  Encoder encoder = encoder_of(config.section("vision_config"));
  MaskDecoder decoder = mask_decoder_of(config.section("mask_decoder_config"));
  int64_t features =
      config.section("vision_config").integer("num_pos_feats", encoder.sizes.hidden_size / 2);
  builder.buffer("shared_image_embedding.positional_embedding", {2, features},
                 builder.options().dtype);
  ValueId image;
  {
    auto scope = builder.scope("vision_encoder");
    image = run_encoder(builder, encoder);
  }
  ValueId prompts =
      run_prompts(builder, config.section("prompt_encoder_config"), decoder.size, features);
  {
    auto scope = builder.scope("prompt_encoder.no_mask_embed");
    image = builder.op(
        "Add", {image, builder.parameter("weight", {1, decoder.size}, {1, decoder.size, 1, 1})});
  }
  builder.output(run_masks(builder, decoder, prompts, image));
}

}  // namespace kcharter
