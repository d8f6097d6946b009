// Mllama (Llama 3.2 Vision): tiles of an image through two encoders; every few layers the text
// looks at them instead of at itself.
#include <algorithm>

#include "import/architecture/families/families.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Tower {
  VisionSizes sizes;
  int64_t image_size = 448, patch = 14, channels = 3, tiles = 4, global_layers = 8, out = 7680,
          ratios = 0;
  std::vector<int64_t> kept;  // layers whose output goes on next to the last one's
  Norm norm;
  int64_t tokens() const { return (image_size / patch) * (image_size / patch) + 1; }
};

Tower tower_of(const ModelConfig& config) {
  Tower tower;
  tower.sizes = vision_sizes_of(config, "gelu");
  tower.image_size = config.integer("image_size", 448);
  tower.patch = config.integer("patch_size", 14);
  tower.channels = config.integer("num_channels", 3);
  tower.tiles = config.integer("max_num_tiles", 4);
  tower.global_layers = config.integer("num_global_layers", 8);
  tower.out = config.integer("vision_output_dim", 7680);
  tower.kept = config.integers("intermediate_layers_indices");
  tower.norm = {.kind = NormKind::kLayer, .epsilon = config.number("norm_eps", 1e-5)};
  if (tower.patch < 1 || tower.image_size < tower.patch || tower.tiles < 1 || tower.tiles > 1024) {
    throw Error("sizes of the image, its patches or tiles are out of range");
  }
  // Every way to lay at most so many tiles side by side.
  for (int64_t rows = 1; rows <= tower.tiles; ++rows) tower.ratios += tower.tiles / rows;
  if (tower.global_layers < 0 || tower.global_layers > 10'000)
    throw Error("'num_global_layers' is out of range");
  return tower;
}

// A factor that training opens.
ValueId opened(GraphBuilder& b, ValueId x, std::string_view gate) {
  return b.op("Mul", {x, b.op("Tanh", {b.parameter(gate, {1})})});
}

Stack layers_of_tower(const Tower& tower, int64_t count, bool gated) {
  Stack stack = vision_stack(tower.sizes);
  stack.layer_list = "layers";
  stack.norm = tower.norm;
  if (stack.layers.empty()) throw Error("the vision tower has no layers");
  Layer layer = stack.layers.front();
  Attention attention = *layer.mixer.target<Attention>();
  attention.output = "o_proj";
  attention.qkv_bias = attention.output_bias = false;
  layer.mixer_norm = "input_layernorm";
  layer.feed_forward_norm = "post_attention_layernorm";
  layer.mixer = attention;
  if (gated) {
    FeedForward plain = *layer.feed_forward.target<FeedForward>();
    layer.mixer = [attention](GraphBuilder& b, ValueId x, int64_t i) {
      return opened(b, attention(b, x, i), "gate_attn");
    };
    layer.feed_forward = [plain](GraphBuilder& b, ValueId x, int64_t i) {
      return opened(b, plain(b, x, i), "gate_ffn");
    };
  }
  stack.layers.assign(static_cast<size_t>(count), layer);
  return stack;
}

// One row of a table of aspect ratios.
ValueId add_tile(GraphBuilder& b, const Tower& tower, ValueId x, const char* name) {
  auto scope = b.scope(name);
  ValueId row =
      b.parameter("embedding.weight", {tower.ratios + 1, tower.tiles * tower.sizes.hidden_size},
                  {1, 1, tower.sizes.hidden_size});
  return b.op("Add", {x, opened(b, row, "gate")});
}

ValueId add_positions(GraphBuilder& b, const Tower& tower, ValueId x) {
  auto scope = b.scope("gated_positional_embedding");
  int64_t size = tower.sizes.hidden_size, rows = tower.tokens();
  ValueId gate = b.parameter("gate", {1});
  x = b.op("Add", {x, b.parameter("embedding", {rows, size})});
  ValueId tile = b.parameter("tile_embedding.weight", {tower.ratios + 1, tower.tiles * rows * size},
                             {1, rows, size});
  return b.op("Add", {x, b.op("Mul", {tile, b.op("Tanh", {gate})})});
}

ValueId run_tower(GraphBuilder& b, const Tower& tower) {
  auto scope = b.scope("vision_model");
  int64_t size = tower.sizes.hidden_size, all = tower.tiles * tower.tokens();
  ValueId pixels;
  if (!b.silent()) {
    pixels = b.input("pixel_values", b.activation_dtype(),
                     {b.batch() * tower.tiles, Expr(tower.channels), Expr(tower.image_size),
                      Expr(tower.image_size)});
  }
  ValueId x = convolve(b, pixels,
                       {.name = "patch_embedding",
                        .in = tower.channels,
                        .out = size,
                        .kernel = tower.patch,
                        .stride = tower.patch,
                        .bias = false});
  x = add_tile(b, tower, grid_to_tokens(b, x), "pre_tile_positional_embedding");
  x = add_positions(b, tower, prepend_token(b, x, "class_embedding", {size}));
  x = b.reshape(normalize(b, x, "layernorm_pre", size, tower.norm), {-1, all, size});
  std::vector<ValueId> outputs;
  {
    auto local = b.scope("transformer");
    Stack stack = layers_of_tower(tower, tower.sizes.layers, false);
    for (size_t i = 0; i < stack.layers.size(); ++i) {
      int64_t index = static_cast<int64_t>(i);
      if (std::find(tower.kept.begin(), tower.kept.end(), index) != tower.kept.end())
        outputs.push_back(x);
      x = build_layer(b, stack, stack.layers[i], x, index);
    }
  }
  x = b.reshape(normalize(b, x, "layernorm_post", size, tower.norm), {-1, tower.tokens(), size});
  x = b.reshape(add_tile(b, tower, x, "post_tile_positional_embedding"), {-1, all, size});
  {
    auto global = b.scope("global_transformer");
    x = build_layers(b, layers_of_tower(tower, tower.global_layers, true), x);
  }
  outputs.insert(outputs.begin(), x);
  return b.op("Concat", outputs, {attribute("axis", int64_t{2})});
}

Block looks_at_image(const Attention& attention, ValueId image, const Expr& tokens) {
  return [=](GraphBuilder& b, ValueId x, int64_t i) {
    return opened(b, cross_attention(b, x, image, attention, tokens, i), "cross_attn_attn_gate");
  };
}

std::vector<Layer> text_layers(const ModelConfig& text, ValueId image, const Expr& tokens) {
  std::vector<int64_t> crossing = text.integers("cross_attention_layers");
  Attention attention = attention_of(text);
  Attention cross = attention;
  cross.name = "cross_attn";
  cross.rotary = cross.causal = false;
  cross.query_key_norm = QueryKeyNorm::kPerHead;
  FeedForward plain = feed_forward_of(text);
  std::vector<Layer> layers(static_cast<size_t>(layers_of(text)));
  for (size_t i = 0; i < layers.size(); ++i) {
    bool crosses =
        std::find(crossing.begin(), crossing.end(), static_cast<int64_t>(i)) != crossing.end();
    layers[i].mixer = crosses ? looks_at_image(cross, image, tokens) : Block(attention);
    layers[i].feed_forward = plain;
    if (!crosses) continue;
    layers[i].feed_forward = [plain](GraphBuilder& b, ValueId x, int64_t index) {
      return opened(b, plain(b, x, index), "cross_attn_mlp_gate");
    };
  }
  return layers;
}

}  // namespace

void build_mllama(GraphBuilder& builder, const ModelConfig& config) {
  constexpr int64_t kImageTokens =
      8;  // ids that stand for images have rows, but are never predicted
  ModelConfig text = config.section("text_config");
  Tower tower = tower_of(config.section("vision_config"));
  int64_t size = text.require("hidden_size"), words = text.require("vocab_size");
  builder.expect("one image of all its tiles a sequence; the tower runs in prefill only");
  ValueId image;
  {
    std::optional<GraphBuilder::Silence> has_run;
    if (builder.decode()) has_run.emplace(builder);
    image = linear(builder, run_tower(builder, tower),
                   {"multi_modal_projector", tower.out, size, true});
  }
  Stack stack;
  stack.hidden_size = size;
  stack.norm = rms_norm_of(text);
  stack.layers = text_layers(text, image, Expr(tower.tiles * tower.tokens()));
  ValueId x;
  {
    auto scope = builder.scope("language_model.model");
    ValueId ids = builder.input("input_ids", DType::kInt64, {builder.batch(), builder.tokens()});
    x = build_layers(builder, stack,
                     embed(builder, "embed_tokens", words + kImageTokens, size, ids).rows);
    if (!builder.decode()) x = builder.ours("LastToken", {x});
    x = normalize(builder, x, "norm", size, stack.norm);
  }
  builder.output(linear(builder, x, {"language_model.lm_head", size, words}));
}

}  // namespace kcharter
