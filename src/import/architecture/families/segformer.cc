// SegFormer: a pyramid of four resolutions, attention to a grid that is reduced, a head of linear
// layers.
#include "import/architecture/convolution.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Segformer {
  std::vector<int64_t> sizes, depths, heads, reductions, patches, strides, ratios;
  std::string activation;
};

std::vector<int64_t> list_of(const ModelConfig& config, const char* key,
                             std::vector<int64_t> fallback) {
  std::vector<int64_t> list = config.integers(key);
  return list.empty() ? fallback : list;
}

Segformer segformer_of(const ModelConfig& config) {
  Segformer net;
  net.sizes = list_of(config, "hidden_sizes", {32, 64, 160, 256});
  net.depths = list_of(config, "depths", {2, 2, 2, 2});
  net.heads = list_of(config, "num_attention_heads", {1, 2, 5, 8});
  net.reductions = list_of(config, "sr_ratios", {8, 4, 2, 1});
  net.patches = list_of(config, "patch_sizes", {7, 3, 3, 3});
  net.strides = list_of(config, "strides", {4, 2, 2, 2});
  net.ratios = list_of(config, "mlp_ratios", {4, 4, 4, 4});
  check_stages(
      {net.sizes, net.depths, net.heads, net.reductions, net.patches, net.strides, net.ratios});
  net.activation = config.text("hidden_act", "gelu");
  return net;
}

const Norm kNorm{.kind = NormKind::kLayer, .epsilon = 1e-5};

ValueId attend(GraphBuilder& b, ValueId x, ValueId grid, int64_t size, int64_t heads,
               int64_t reduction) {
  auto scope = b.scope("attention");
  {
    auto self = b.scope("self");
    ValueId q = linear(b, x, {"query", size, size, true});
    ValueId seen = x;
    if (reduction > 1) {
      ValueId smaller = convolve(
          b, tokens_to_grid(b, x, grid),
          {.name = "sr", .in = size, .out = size, .kernel = reduction, .stride = reduction});
      seen = normalize(b, grid_to_tokens(b, smaller), "layer_norm", size, kNorm);
    }
    ValueId k = linear(b, seen, {"key", size, size, true});
    ValueId v = linear(b, seen, {"value", size, size, true});
    x = attend_to_all(b, q, k, v, heads, size / heads);
  }
  return linear(b, x, {"output.dense", size, size, true});
}

ValueId feed_forward(GraphBuilder& b, ValueId x, ValueId grid, int64_t size, int64_t inner,
                     const std::string& activation) {
  auto scope = b.scope("mlp");
  x = tokens_to_grid(b, linear(b, x, {"dense1", size, inner, true}), grid);
  x = convolve(b, x,
               {.name = "dwconv.dwconv",
                .in = inner,
                .out = inner,
                .kernel = 3,
                .padding = 1,
                .groups = inner});
  return linear(b, activate(b, grid_to_tokens(b, x), activation), {"dense2", inner, size, true});
}

// The feature maps of all stages.
std::vector<ValueId> run(GraphBuilder& b, const Segformer& net, const ModelConfig& config) {
  int64_t channels = config.integer("num_channels", 3);
  ValueId grid = image_input(b, channels, config.integer("image_size", 224));
  std::vector<ValueId> maps;
  auto encoder = b.scope("encoder");
  for (size_t i = 0; i < net.sizes.size(); ++i) {
    int64_t stage = static_cast<int64_t>(i), size = net.sizes[i];
    if (net.heads[i] < 1) throw Error("a stage has no heads");
    ValueId x;
    {
      auto scope = b.scope("patch_embeddings", stage);
      grid = convolve(b, grid,
                      {.name = "proj",
                       .in = i == 0 ? channels : net.sizes[i - 1],
                       .out = size,
                       .kernel = net.patches[i],
                       .stride = net.strides[i],
                       .padding = net.patches[i] / 2});
      x = normalize(b, grid_to_tokens(b, grid), "layer_norm", size, kNorm);
    }
    for (int64_t layer = 0; layer < net.depths[i]; ++layer) {
      auto scope = b.scope("block." + std::to_string(stage), layer);
      ValueId normal = normalize(b, x, "layer_norm_1", size, kNorm);
      x = b.op("Add", {x, attend(b, normal, grid, size, net.heads[i], net.reductions[i])});
      normal = normalize(b, x, "layer_norm_2", size, kNorm);
      x = b.op("Add",
               {x, feed_forward(b, normal, grid, size, size * net.ratios[i], net.activation)});
    }
    x = normalize(b, x, "layer_norm." + std::to_string(stage), size, kNorm);
    grid = tokens_to_grid(b, x, grid);
    maps.push_back(grid);
  }
  return maps;
}

std::vector<ValueId> run_named(GraphBuilder& b, const Segformer& net, const ModelConfig& config) {
  auto scope = b.scope("segformer");
  return run(b, net, config);
}

// Statistics of training, folded into a scale and a shift.
ValueId batch_norm(GraphBuilder& b, ValueId x, int64_t size) {
  auto scope = b.scope("batch_norm");
  std::vector<ValueId> inputs = {x, b.parameter("weight", {size}), b.parameter("bias", {size}),
                                 b.buffer_value("running_mean", {size}),
                                 b.buffer_value("running_var", {size})};
  b.buffer("num_batches_tracked", {}, DType::kInt64);
  return b.op("BatchNormalization", std::move(inputs));
}

}  // namespace

void build_segformer(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run(builder, segformer_of(config), config).back());
}

void build_segformer_classifier(GraphBuilder& builder, const ModelConfig& config) {
  Segformer net = segformer_of(config);
  ValueId x = grid_to_tokens(builder, run_named(builder, net, config).back());
  x = builder.ours("PoolTokens", {x}, {attribute("tokens", int64_t{1})});
  builder.output(linear(builder, x, {"classifier", net.sizes.back(), label_count(config), true}));
}

// Every map as wide as the decoder and as large as the first, side by side.
void build_segformer_segmentation(GraphBuilder& builder, const ModelConfig& config) {
  Segformer net = segformer_of(config);
  std::vector<ValueId> maps = run_named(builder, net, config);
  int64_t size = config.integer("decoder_hidden_size", 256);
  auto scope = builder.scope("decode_head");
  std::vector<ValueId> wide;
  for (size_t i = maps.size(); i-- > 0;) {
    ValueId x = linear(builder, grid_to_tokens(builder, maps[i]),
                       {"linear_c." + std::to_string(i) + ".proj", net.sizes[i], size, true});
    x = tokens_to_grid(builder, x, maps[i]);
    wide.push_back(i == 0 ? x : upsample_like(builder, x, maps[0]));
  }
  ValueId x = builder.op("Concat", wide, {attribute("axis", int64_t{1})});
  x = convolve(builder, x,
               {.name = "linear_fuse",
                .in = size * static_cast<int64_t>(maps.size()),
                .out = size,
                .bias = false});
  x = activate(builder, batch_norm(builder, x, size), "relu");
  builder.output(
      convolve(builder, x, {.name = "classifier", .in = size, .out = label_count(config)}));
}

}  // namespace kcharter
