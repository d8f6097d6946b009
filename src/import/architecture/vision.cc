#include "import/architecture/vision.h"

#include "import/architecture/convolution.h"
#include "kcharter/base/error.h"

namespace kcharter {

VisionSizes vision_sizes_of(const ModelConfig& config, std::string_view activation) {
  VisionSizes sizes;
  sizes.hidden_size = config.require("hidden_size");
  sizes.layers = layers_of(config);
  sizes.heads = config.require("num_attention_heads");
  sizes.intermediate_size = config.integer("intermediate_size", 4 * sizes.hidden_size);
  sizes.activation = config.text("hidden_act", activation);
  sizes.epsilon = config.number("layer_norm_eps", 1e-5);
  if (sizes.heads == 0) throw Error("'num_attention_heads' of the vision tower is 0");
  return sizes;
}

Stack vision_stack(const VisionSizes& sizes) {
  Stack stack;
  stack.layer_list = "encoder.layers";
  stack.hidden_size = sizes.hidden_size;
  stack.norm = {.kind = NormKind::kLayer, .epsilon = sizes.epsilon};
  Attention attention;
  attention.hidden_size = sizes.hidden_size;
  attention.heads = attention.kv_heads = sizes.heads;
  attention.head_dim = sizes.hidden_size / sizes.heads;
  attention.output = "out_proj";
  attention.qkv_bias = attention.output_bias = true;
  attention.causal = attention.cached = attention.rotary = false;
  FeedForward feed_forward;
  feed_forward.gate.clear();
  feed_forward.up = "fc1";
  feed_forward.down = "fc2";
  feed_forward.up_bias = feed_forward.down_bias = true;
  feed_forward.hidden_size = sizes.hidden_size;
  feed_forward.intermediate_size = sizes.intermediate_size;
  feed_forward.activation = sizes.activation;
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.mixer_norm = "layer_norm1";
  layer.feed_forward_norm = "layer_norm2";
  stack.layers.assign(static_cast<size_t>(sizes.layers), layer);
  return stack;
}

ValueId embed_patches(GraphBuilder& builder, const PatchEmbedding& part, std::string_view input) {
  if (part.patch_size < 1) throw Error("'patch_size' is " + std::to_string(part.patch_size));
  ValueId pixels;
  if (!builder.silent()) {
    Expr images = builder.batch() * builder.variable("image_count", "Images of a sequence", 1, 0);
    pixels = builder.input(input, builder.activation_dtype(),
                           {images, Expr(part.channels), Expr(part.image_size), Expr(part.image_size)});
  }
  auto scope = builder.scope(part.name);
  std::vector<ValueId> inputs = {
      pixels, builder.parameter("weight", {part.hidden_size, part.channels, part.patch_size, part.patch_size})};
  if (part.bias) inputs.push_back(builder.parameter("bias", {part.hidden_size}));
  std::vector<int64_t> square = {part.patch_size, part.patch_size};
  ValueId grid = builder.op("Conv", std::move(inputs), {attribute("kernel_shape", square), attribute("strides", square)});
  return builder.ours("GridToTokens", {grid});
}

ValueId image_input(GraphBuilder& builder, int64_t channels, int64_t size, std::string_view name) {
  if (builder.silent()) return {};
  Expr images = builder.batch() * builder.variable("image_count", "Images of a sequence", 1, 0);
  ImageSize free = free_image_size(builder, size);
  return builder.input(name, builder.activation_dtype(), {images, Expr(channels), free.height, free.width});
}

void check_stages(const std::vector<std::vector<int64_t>>& lists) {
  constexpr int64_t kMostBlocks = 10'000;
  for (const std::vector<int64_t>& list : lists) {
    if (list.empty() || list.size() > 64 || list.size() != lists[0].size()) {
      throw Error("lists of stages have " + std::to_string(lists[0].size()) + " and " + std::to_string(list.size()) + " entries");
    }
    for (int64_t value : list) {
      if (value < 0 || value > kMostBlocks) throw Error("a stage's size is " + std::to_string(value));
    }
  }
}

ValueId prepend_token(GraphBuilder& builder, ValueId x, std::string_view name, std::vector<int64_t> dims) {
  return builder.ours("PrependTokens", {x, builder.parameter(name, std::move(dims))}, {attribute("count", int64_t{1})});
}

ValueId add_table(GraphBuilder& builder, ValueId x, std::string_view name, std::vector<int64_t> dims) {
  return builder.op("Add", {x, builder.parameter(name, std::move(dims))});
}

ValueId merge_neighbours(GraphBuilder& builder, ValueId x, int64_t count) {
  return builder.ours("MergeNeighbours", {x}, {attribute("count", count)});
}

void add_tower(GraphBuilder& builder, Decoder& decoder, const std::function<ValueId(GraphBuilder&)>& tower) {
  if (builder.decode()) {
    GraphBuilder::Silence silence(builder);
    tower(builder);
    return;
  }
  builder.expect("current_length counts the image's tokens too; the tower runs in prefill only");
  ValueId image = tower(builder);
  auto before = decoder.before_layers;
  decoder.before_layers = [image, before](GraphBuilder& b, const Decoder& d, ValueId ids, ValueId hidden) {
    ValueId merged = b.ours("MergeTokens", {hidden, image});
    return before ? before(b, d, ids, merged) : merged;
  };
}

}  // namespace kcharter
