// Qwen 2, 2.5, 3 and 3.5 with a vision tower: an image of any size is a sequence of patches, four of
// which become one token of the text.
#include <algorithm>

#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

struct Tower {
  std::string name = "visual";
  Stack stack;
  int64_t patch_elements = 0;  // channels · frames · patch²
  std::vector<int64_t> patch_dims;
  bool patch_bias = false;
  int64_t merged = 4;          // patches of one token
  int64_t out_size = 0;
};

Tower tower_of(const ModelConfig& config, const Norm& norm) {
  Tower tower;
  VisionSizes sizes = vision_sizes_of(config, "quick_gelu");
  sizes.hidden_size = config.integer("embed_dim", sizes.hidden_size);
  if (config.has("mlp_ratio")) {
    sizes.intermediate_size = static_cast<int64_t>(config.number("mlp_ratio", 4) * static_cast<double>(sizes.hidden_size));
  }
  tower.stack = vision_stack(sizes);
  tower.stack.layer_list = "blocks";
  tower.stack.norm = norm;
  int64_t patch = config.integer("patch_size", 14), frames = config.integer("temporal_patch_size", 2);
  int64_t channels = config.integer("in_channels", config.integer("in_chans", 3));
  tower.patch_dims = {sizes.hidden_size, channels, frames, patch, patch};
  tower.patch_elements = channels * frames * patch * patch;
  int64_t merge = config.integer("spatial_merge_size", 2);
  tower.merged = merge * merge;
  tower.out_size = config.integer("out_hidden_size", config.require("hidden_size"));
  Attention attention = *tower.stack.layers.at(0).mixer.target<Attention>();
  attention.name = "attn";
  attention.fused = "qkv";
  attention.output = "proj";
  attention.rotary = true;
  for (Layer& layer : tower.stack.layers) {
    layer.mixer = attention;
    layer.mixer_norm = "norm1";
    layer.feed_forward_norm = "norm2";
  }
  return tower;
}

void rename_feed_forward(Tower& tower, const char* up, const char* down) {
  for (Layer& layer : tower.stack.layers) {
    FeedForward part = *layer.feed_forward.target<FeedForward>();
    part.up = up;
    part.down = down;
    layer.feed_forward = part;
  }
}

// [B, patches, elements of a patch] times the flattened convolution.
ValueId embed_any_size(GraphBuilder& b, const Tower& tower) {
  ValueId pixels;
  if (!b.silent()) {
    Expr patches = b.variable("image_patches", "Patches of the image", 1024, 0);
    pixels = b.input("pixel_values", b.activation_dtype(), {b.batch(), patches, Expr(tower.patch_elements)});
  }
  auto scope = b.scope("patch_embed.proj");
  ValueId x = b.op("MatMul", {pixels, b.parameter("weight", tower.patch_dims, {tower.patch_elements, tower.stack.hidden_size})});
  return tower.patch_bias ? b.op("Add", {x, b.parameter("bias", {tower.stack.hidden_size})}) : x;
}

// Qwen 2 and 2.5: norm each patch, join four, two linear layers.
ValueId merge_named(GraphBuilder& b, const Tower& tower, ValueId x, const Norm& norm) {
  auto scope = b.scope("merger");
  int64_t wide = tower.stack.hidden_size * tower.merged;
  x = normalize(b, x, "ln_q", tower.stack.hidden_size, norm);
  x = linear(b, merge_neighbours(b, x, tower.merged), {"mlp.0", wide, wide, true});
  return linear(b, activate(b, x, "gelu"), {"mlp.2", wide, tower.out_size, true});
}

ValueId merge_of_qwen3(GraphBuilder& b, const Tower& tower, ValueId x, const std::string& name, bool norm_after) {
  auto scope = b.scope(name);
  int64_t size = tower.stack.hidden_size, wide = size * tower.merged;
  if (!norm_after) x = normalize(b, x, "norm", size, tower.stack.norm);
  x = merge_neighbours(b, x, tower.merged);
  if (norm_after) x = normalize(b, x, "norm", wide, tower.stack.norm);
  x = activate(b, linear(b, x, {"linear_fc1", wide, wide, true}), "gelu");
  return linear(b, x, {"linear_fc2", wide, tower.out_size, true});
}

// Learned positions; what some layers say is merged too and added to the first layers of the text.
ValueId run_qwen3_tower(GraphBuilder& b, const Tower& tower, const ModelConfig& config) {
  auto scope = b.scope(tower.name);
  ValueId x = embed_any_size(b, tower);
  {
    auto positions = b.scope("pos_embed");
    ValueId table = b.parameter("weight", {config.integer("num_position_embeddings", 2304), tower.stack.hidden_size});
    x = b.ours("AddInterpolated", {x, table});
  }
  std::vector<int64_t> deep = config.integers("deepstack_visual_indexes");
  std::vector<ValueId> deep_tokens;
  for (size_t i = 0; i < tower.stack.layers.size(); ++i) {
    x = build_layer(b, tower.stack, tower.stack.layers[i], x, static_cast<int64_t>(i));
    for (size_t k = 0; k < deep.size(); ++k) {
      if (deep[k] != static_cast<int64_t>(i)) continue;
      deep_tokens.push_back(merge_of_qwen3(b, tower, x, "deepstack_merger_list." + std::to_string(k), true));
    }
  }
  x = merge_of_qwen3(b, tower, x, "merger", false);
  for (ValueId tokens : deep_tokens) x = b.op("Add", {x, tokens});
  return x;
}

ModelConfig text_of(const ModelConfig& config) {
  ModelConfig text = config.section("text_config");
  return text.empty() ? config : text.with_defaults(config);
}

void add_qwen3_tower(GraphBuilder& builder, Decoder& decoder, const ModelConfig& vision) {
  if (vision.empty()) return;
  Tower tower = tower_of(vision, {.kind = NormKind::kLayer, .epsilon = 1e-6});
  tower.name = "model.visual";
  tower.patch_bias = true;
  rename_feed_forward(tower, "linear_fc1", "linear_fc2");
  add_tower(builder, decoder, [&](GraphBuilder& b) { return run_qwen3_tower(b, tower, vision); });
}

Attention qwen3_attention(const ModelConfig& text) {
  Attention attention = attention_of(text);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.qkv_bias = attention.output_bias = text.flag("attention_bias", false);
  return attention;
}

}  // namespace

void build_qwen2_vl(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = text_of(config);
  Decoder decoder = decoder_of(text);
  Attention attention = attention_of(text);
  attention.qkv_bias = true;
  use_in_all_layers(decoder, attention, feed_forward_of(text));
  ModelConfig vision = config.section("vision_config").with_defaults(ModelConfig::parse(
      R"({"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "hidden_size": 3584})"));
  Norm norm{.kind = NormKind::kLayer, .epsilon = 1e-6};
  Tower tower = tower_of(vision, norm);
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    auto scope = b.scope(tower.name);
    return merge_named(b, tower, build_layers(b, tower.stack, embed_any_size(b, tower)), norm);
  });
  build(builder, decoder);
}

// RMS norms, gated blocks, windows of 112 pixels on all layers but a few.
void build_qwen2_5_vl(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = text_of(config);
  Decoder decoder = decoder_of(text);
  Attention attention = attention_of(text);
  attention.qkv_bias = true;
  use_in_all_layers(decoder, attention, feed_forward_of(text));
  ModelConfig vision = config.section("vision_config");
  Norm norm{.kind = NormKind::kRms, .epsilon = 1e-6};
  Tower tower = tower_of(vision, norm);
  FeedForward gated = feed_forward_of(vision);
  gated.hidden_size = tower.stack.hidden_size;
  gated.up_bias = gated.down_bias = true;
  std::vector<int64_t> full = vision.integers("fullatt_block_indexes");
  int64_t side = vision.integer("window_size", 112) / std::max<int64_t>(1, vision.integer("patch_size", 14));
  for (size_t i = 0; i < tower.stack.layers.size(); ++i) {
    Attention part = *tower.stack.layers[i].mixer.target<Attention>();
    bool windowed = std::find(full.begin(), full.end(), static_cast<int64_t>(i)) == full.end();
    if (windowed && side > 0) part.block = side * side;
    tower.stack.layers[i].mixer = part;
    tower.stack.layers[i].feed_forward = gated;
  }
  add_tower(builder, decoder, [&](GraphBuilder& b) {
    auto scope = b.scope(tower.name);
    return merge_named(b, tower, build_layers(b, tower.stack, embed_any_size(b, tower)), norm);
  });
  build(builder, decoder);
}

void build_qwen3_vl(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = text_of(config);
  Decoder decoder = decoder_of(text);
  decoder.model = "model.language_model";
  Block feed_forward = feed_forward_of(text);
  if (text.integer("num_experts", 0) > 0) {
    MixtureOfExperts experts = mixture_of(text);
    experts.up = "gate_up_proj";
    experts.fused = experts.stacked = experts.stacked_in_out = true;
    feed_forward = experts;
  }
  use_in_all_layers(decoder, qwen3_attention(text), feed_forward);
  add_qwen3_tower(builder, decoder, config.section("vision_config"));
  build(builder, decoder);
}

// A configuration of the text alone has neither tower nor prediction layers.
void build_qwen3_5(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = text_of(config);
  Decoder decoder = qwen3_next_decoder(text, false);
  decoder.model = "model.language_model";
  add_qwen3_tower(builder, decoder, config.section("vision_config"));
  build(builder, decoder);
  if (!config.section("text_config").empty()) declare_qwen_prediction_layers(builder, text, decoder);
}

}  // namespace kcharter
