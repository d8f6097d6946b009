// ConvNeXt and its second version: depthwise convolutions, feed-forward blocks of each point.
#include "import/architecture/convolution.h"
#include "import/architecture/families/vision_families.h"

namespace kcharter {
namespace {

struct ConvNext {
  std::vector<int64_t> sizes, depths;
  std::string activation;
  double epsilon = 1e-12;
  bool factors = true;         // a learned factor of each channel after each block
  bool response_norm = false;  // the second version's
};

ConvNext convnext_of(const ModelConfig& config, bool second) {
  ConvNext net;
  net.sizes = config.integers("hidden_sizes");
  net.depths = config.integers("depths");
  if (net.sizes.empty()) net.sizes = {96, 192, 384, 768};
  if (net.depths.empty()) net.depths = {3, 3, 9, 3};
  check_stages({net.sizes, net.depths});
  net.activation = config.text("hidden_act", "gelu");
  net.epsilon = config.number("layer_norm_eps", 1e-12);
  net.factors = !second && config.number("layer_scale_init_value", 1e-6) > 0;
  net.response_norm = second;
  return net;
}

// arXiv 2301.00808 §3.1: each channel over its norm across the image.
ValueId normalize_response(GraphBuilder& b, ValueId x, int64_t size) {
  auto scope = b.scope("grn");
  ValueId normal = b.ours("LayerNormalization", {x}, {attribute("axis", int64_t{1})});
  ValueId scaled = b.op("Mul", {normal, b.parameter("weight", {1, 1, 1, size}, {size})});
  return b.op("Add", {x, b.op("Add", {scaled, b.parameter("bias", {1, 1, 1, size}, {size})})});
}

ValueId run_block(GraphBuilder& b, const ConvNext& net, ValueId grid, int64_t size) {
  ValueId x = convolve(
      b, grid,
      {.name = "dwconv", .in = size, .out = size, .kernel = 7, .padding = 3, .groups = size});
  x = grid_to_tokens(b, x);
  x = normalize(b, x, "layernorm", size, {.kind = NormKind::kLayer, .epsilon = 1e-6});
  x = activate(b, linear(b, x, {"pwconv1", size, 4 * size, true}), net.activation);
  if (net.response_norm) x = normalize_response(b, x, 4 * size);
  x = linear(b, x, {"pwconv2", 4 * size, size, true});
  if (net.factors) x = b.op("Mul", {x, b.parameter("layer_scale_parameter", {size})});
  return b.op("Add", {grid, tokens_to_grid(b, x, grid)});
}

ValueId run(GraphBuilder& b, const ConvNext& net, const ModelConfig& config) {
  int64_t patch = config.integer("patch_size", 4), channels = config.integer("num_channels", 3);
  ValueId x = image_input(b, channels, config.integer("image_size", 224));
  {
    auto scope = b.scope("embeddings");
    x = convolve(b, x,
                 {.name = "patch_embeddings",
                  .in = channels,
                  .out = net.sizes[0],
                  .kernel = patch,
                  .stride = patch});
    x = normalize_points(b, x, "layernorm", net.sizes[0]);
  }
  for (size_t stage = 0; stage < net.sizes.size(); ++stage) {
    auto scope = b.scope("encoder.stages", static_cast<int64_t>(stage));
    int64_t size = net.sizes[stage];
    if (stage > 0) {
      auto smaller = b.scope("downsampling_layer");
      x = normalize_points(b, x, "0", net.sizes[stage - 1]);
      x = convolve(
          b, x, {.name = "1", .in = net.sizes[stage - 1], .out = size, .kernel = 2, .stride = 2});
    }
    for (int64_t i = 0; i < net.depths[stage]; ++i) {
      auto layer = b.scope("layers", i);
      x = run_block(b, net, x, size);
    }
  }
  x = b.ours("PoolTokens", {grid_to_tokens(b, x)}, {attribute("tokens", int64_t{1})});
  return normalize(b, x, "layernorm", net.sizes.back(),
                   {.kind = NormKind::kLayer, .epsilon = net.epsilon});
}

void classify(GraphBuilder& b, const ModelConfig& config, const char* name, bool second) {
  ConvNext net = convnext_of(config, second);
  ValueId x;
  {
    auto scope = b.scope(name);
    x = run(b, net, config);
  }
  b.output(linear(b, x, {"classifier", net.sizes.back(), label_count(config), true}));
}

}  // namespace

void build_convnext(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run(builder, convnext_of(config, false), config));
}

void build_convnext_classifier(GraphBuilder& builder, const ModelConfig& config) {
  classify(builder, config, "convnext", false);
}

void build_convnext2_classifier(GraphBuilder& builder, const ModelConfig& config) {
  classify(builder, config, "convnextv2", true);
}

}  // namespace kcharter
