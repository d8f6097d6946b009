// AutoencoderKL: images to latents by the encoder, latents to images by the decoder. The graph runs
// both, one after the other.
#include <algorithm>

#include "import/architecture/attention.h"
#include "import/architecture/diffusion.h"
#include "import/architecture/families/diffusion_families.h"
#include "import/architecture/vision.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr double kEpsilon = 1e-6;

struct Autoencoder {
  std::vector<int64_t> sizes;
  int64_t layers = 1, latents = 4, in = 3, out = 3, groups = 32;
  bool attention = true;
};

Autoencoder autoencoder_of(const ModelConfig& config) {
  Autoencoder net;
  net.sizes = config.integers("block_out_channels");
  if (net.sizes.empty()) net.sizes = {64};
  check_stages({net.sizes});
  net.layers = config.integer("layers_per_block", 1);
  net.latents = config.integer("latent_channels", 4);
  net.in = config.integer("in_channels", 3);
  net.out = config.integer("out_channels", 3);
  net.groups = config.integer("norm_num_groups", 32);
  net.attention = config.flag("mid_block_add_attention", true);
  if (net.layers < 0 || net.layers > 1000 || net.groups < 1)
    throw Error("'layers_per_block' or 'norm_num_groups' is out of range");
  for (const char* side : {"down_block_types", "up_block_types"}) {
    for (const std::string& type : config.texts(side)) {
      if (type != "DownEncoderBlock2D" && type != "UpDecoderBlock2D")
        throw Error("block '" + type + "' is not known");
    }
  }
  return net;
}

ResidualGrid residual(const Autoencoder& net, int64_t in, int64_t out) {
  return {.in = in, .out = out, .groups = net.groups, .epsilon = kEpsilon};
}

// One head as wide as the grid is deep.
ValueId attend(GraphBuilder& b, const Autoencoder& net, ValueId grid, int64_t size) {
  auto scope = b.scope("attentions.0");
  ValueId x = grid_to_tokens(b, normalize_grid(b, grid, "group_norm", size, net.groups, kEpsilon));
  ValueId q = linear(b, x, {"to_q", size, size, true});
  ValueId k = linear(b, x, {"to_k", size, size, true});
  ValueId v = linear(b, x, {"to_v", size, size, true});
  x = linear(b, attend_to_all(b, q, k, v, 1, size), {"to_out.0", size, size, true});
  return b.op("Add", {grid, tokens_to_grid(b, x, grid)});
}

ValueId run_middle(GraphBuilder& b, const Autoencoder& net, ValueId x, int64_t size) {
  auto scope = b.scope("mid_block");
  for (int64_t i = 0; i < 2; ++i) {
    {
      auto block = b.scope("resnets", i);
      x = run_residual(b, x, {}, residual(net, size, size));
    }
    if (i == 0 && net.attention) x = attend(b, net, x, size);
  }
  return x;
}

ValueId finish(GraphBuilder& b, const Autoencoder& net, ValueId x, int64_t in, int64_t out) {
  x = activate(b, normalize_grid(b, x, "conv_norm_out", in, net.groups, kEpsilon), "silu");
  return convolve(b, x, {.name = "conv_out", .in = in, .out = out, .kernel = 3, .padding = 1});
}

ValueId encode(GraphBuilder& b, const Autoencoder& net, ValueId x) {
  auto scope = b.scope("encoder");
  int64_t size = net.sizes[0];
  x = convolve(b, x, {.name = "conv_in", .in = net.in, .out = size, .kernel = 3, .padding = 1});
  for (size_t i = 0; i < net.sizes.size(); ++i) {
    auto block = b.scope("down_blocks", static_cast<int64_t>(i));
    for (int64_t layer = 0; layer < net.layers; ++layer) {
      auto resnet = b.scope("resnets", layer);
      x = run_residual(b, x, {}, residual(net, size, net.sizes[i]));
      size = net.sizes[i];
    }
    if (i + 1 == net.sizes.size()) break;
    x = convolve(b, x,
                 {.name = "downsamplers.0.conv",
                  .in = size,
                  .out = size,
                  .kernel = 3,
                  .stride = 2,
                  .padding = 1,
                  .pad_end_only = true});
  }
  return finish(b, net, run_middle(b, net, x, size), size, 2 * net.latents);
}

ValueId decode(GraphBuilder& b, const Autoencoder& net, ValueId x) {
  auto scope = b.scope("decoder");
  std::vector<int64_t> sizes(net.sizes.rbegin(), net.sizes.rend());
  int64_t size = sizes[0];
  x = convolve(b, x,
               {.name = "conv_in", .in = net.latents, .out = size, .kernel = 3, .padding = 1});
  x = run_middle(b, net, x, size);
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto block = b.scope("up_blocks", static_cast<int64_t>(i));
    for (int64_t layer = 0; layer <= net.layers; ++layer) {
      auto resnet = b.scope("resnets", layer);
      x = run_residual(b, x, {}, residual(net, size, sizes[i]));
      size = sizes[i];
    }
    if (i + 1 == sizes.size()) break;
    x = convolve(b, upsample(b, x, 2),
                 {.name = "upsamplers.0.conv", .in = size, .out = size, .kernel = 3, .padding = 1});
  }
  return finish(b, net, x, size, net.out);
}

ValueId run(GraphBuilder& b, const Autoencoder& net, const ModelConfig& config) {
  b.expect(
      "an image is encoded and decoded again; a pipeline that makes images runs the decoder alone");
  ImageSize free = free_image_size(b, config.integer("sample_size", 512));
  ValueId x =
      b.input("sample", b.activation_dtype(), {b.batch(), Expr(net.in), free.height, free.width});
  x = encode(b, net, x);
  if (config.flag("use_quant_conv", true)) {
    x = convolve(b, x, {.name = "quant_conv", .in = 2 * net.latents, .out = 2 * net.latents});
  }
  // Mean and deviation of each latent; the mean goes on.
  x = b.ours("TakeChannels", {x}, {attribute("channels", net.latents)});
  if (config.flag("use_post_quant_conv", true)) {
    x = convolve(b, x, {.name = "post_quant_conv", .in = net.latents, .out = net.latents});
  }
  return decode(b, net, x);
}

}  // namespace

void build_autoencoder_kl(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run(builder, autoencoder_of(config), config));
}

// Latents are gathered 2 × 2 and normalized by statistics of training.
void build_autoencoder_kl_flux2(GraphBuilder& builder, const ModelConfig& given) {
  ModelConfig config = given.with_defaults(ModelConfig::parse(
      R"({"block_out_channels": [128, 256, 512, 512], "layers_per_block": 2, "latent_channels": 32, "sample_size": 1024})"));
  Autoencoder net = autoencoder_of(config);
  std::vector<int64_t> patch = config.integers("patch_size");
  int64_t gathered = net.latents * (patch.size() == 2 ? patch[0] * patch[1] : 4);
  builder.output(run(builder, net, config));
  auto scope = builder.scope("bn");
  builder.buffer("running_mean", {gathered}, builder.options().dtype);
  builder.buffer("running_var", {gathered}, builder.options().dtype);
  builder.buffer("num_batches_tracked", {}, DType::kInt64);
}

}  // namespace kcharter
