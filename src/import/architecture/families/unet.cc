// UNet2DConditionModel: Stable Diffusion 1, 2 and XL. Grids get smaller, then larger again, next to
// what they were; text is looked at in between (arXiv 2112.10752 §3.3).
#include <algorithm>

#include "import/architecture/attention.h"
#include "import/architecture/diffusion.h"
#include "import/architecture/families/diffusion_families.h"
#include "import/architecture/vision.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct UNet {
  std::vector<int64_t> sizes, layers, heads, text, transformers, transformers_up;
  std::vector<bool> attends_down, attends_up;
  int64_t in = 4, out = 4, groups = 32, step_size = 0, padding = 1;
  double epsilon = 1e-5;
  bool linear_projection = false, scale_shift = false, middle_attends = true;
  std::vector<bool> only_cross;
};

// A number for every block, or a list with one for each.
std::vector<int64_t> per_block(const ModelConfig& config, const char* key, int64_t fallback,
                               size_t blocks) {
  std::vector<int64_t> list = config.integers(key);
  if (list.empty() && config.has(key) && !config.integer(key))
    throw Error(std::string("'") + key + "' is neither a number nor a list of numbers");
  if (list.empty()) list.assign(blocks, config.integer(key, fallback));
  if (list.size() != blocks)
    throw Error(std::string("'") + key + "' has " + std::to_string(list.size()) + " entries for " +
                std::to_string(blocks) + " blocks");
  return list;
}

std::vector<bool> attends(const ModelConfig& config, const char* key, const char* with,
                          const char* without, std::vector<bool> fallback) {
  std::vector<std::string> types = config.texts(key);
  if (types.empty()) return fallback;
  std::vector<bool> result;
  for (const std::string& type : types) {
    if (type != with && type != without) throw Error("block '" + type + "' is not known");
    result.push_back(type == with);
  }
  return result;
}

void refuse_what_is_not_known(const ModelConfig& config) {
  for (const char* key : {"dual_cross_attention", "resnet_skip_time_act"}) {
    if (config.flag(key, false)) throw Error(std::string("'") + key + "' is not known");
  }
  if (config.text("attention_type", "default") != "default")
    throw Error("attention '" + config.text("attention_type") + "' is not known");
  if (config.text("time_embedding_type", "positional") != "positional")
    throw Error("steps that are not positional are not known");
  std::string middle = config.text("mid_block_type", "UNetMidBlock2DCrossAttn");
  if (middle != "UNetMidBlock2DCrossAttn" && middle != "UNetMidBlock2D")
    throw Error("block '" + middle + "' is not known");
}

UNet unet_of(const ModelConfig& config) {
  refuse_what_is_not_known(config);
  UNet net;
  net.sizes = config.integers("block_out_channels");
  if (net.sizes.empty()) net.sizes = {320, 640, 1280, 1280};
  size_t blocks = net.sizes.size();
  std::vector<bool> down(blocks, true), up(blocks, true);
  down.back() = up.front() = false;
  net.attends_down =
      attends(config, "down_block_types", "CrossAttnDownBlock2D", "DownBlock2D", down);
  net.attends_up = attends(config, "up_block_types", "CrossAttnUpBlock2D", "UpBlock2D", up);
  net.layers = per_block(config, "layers_per_block", 2, blocks);
  net.heads = per_block(config, "attention_head_dim", 8, blocks);  // the name is a known mistake
  net.text = per_block(config, "cross_attention_dim", 1280, blocks);
  net.transformers = per_block(config, "transformer_layers_per_block", 1, blocks);
  net.transformers_up.assign(net.transformers.rbegin(), net.transformers.rend());
  if (config.has("reverse_transformer_layers_per_block")) {
    net.transformers_up = per_block(config, "reverse_transformer_layers_per_block", 1, blocks);
  }
  check_stages({net.sizes, net.layers, net.heads, net.transformers, net.transformers_up});
  if (net.attends_down.size() != blocks || net.attends_up.size() != blocks)
    throw Error("as many block types are expected as sizes");
  net.only_cross.assign(blocks, config.flag("only_cross_attention", false));
  std::vector<bool> each = config.flags("only_cross_attention");
  if (each.size() == blocks) net.only_cross = each;
  net.in = config.integer("in_channels", 4);
  net.out = config.integer("out_channels", 4);
  net.groups = config.integer("norm_num_groups", 32);
  net.padding = config.integer("downsample_padding", 1);
  net.epsilon = config.number("norm_eps", 1e-5);
  net.linear_projection = config.flag("use_linear_projection", false);
  net.scale_shift = config.text("resnet_time_scale_shift", "default") == "scale_shift";
  net.middle_attends =
      config.text("mid_block_type", "UNetMidBlock2DCrossAttn") == "UNetMidBlock2DCrossAttn";
  net.step_size = config.integer("time_embedding_dim", 4 * net.sizes[0]);
  if (*std::min_element(net.heads.begin(), net.heads.end()) < 1 || net.groups < 1)
    throw Error("a block without heads or groups");
  return net;
}

// One block's attention to itself and to the text.
struct Transformer {
  int64_t size, heads, text, blocks;
  bool linear, only_cross;
};

ValueId attend(GraphBuilder& b, const Transformer& part, const char* name, ValueId x, ValueId seen,
               int64_t seen_size) {
  auto scope = b.scope(name);
  ValueId q = linear(b, x, {"to_q", part.size, part.size});
  ValueId k = linear(b, seen, {"to_k", seen_size, part.size});
  ValueId v = linear(b, seen, {"to_v", seen_size, part.size});
  x = attend_to_all(b, q, k, v, part.heads, part.size / part.heads);
  return linear(b, x, {"to_out.0", part.size, part.size, true});
}

ValueId run_transformer(GraphBuilder& b, const UNet& net, const Transformer& part, ValueId grid,
                        ValueId text) {
  constexpr Norm kNorm{.kind = NormKind::kLayer, .epsilon = 1e-5};
  ValueId x = normalize_grid(b, grid, "norm", part.size, net.groups, 1e-6);
  Convolution point{.name = "proj_in", .in = part.size, .out = part.size};
  x = part.linear ? linear(b, grid_to_tokens(b, x), {"proj_in", part.size, part.size, true})
                  : grid_to_tokens(b, convolve(b, x, point));
  for (int64_t i = 0; i < part.blocks; ++i) {
    auto scope = b.scope("transformer_blocks", i);
    ValueId normal = normalize(b, x, "norm1", part.size, kNorm);
    x = b.op("Add", {x, attend(b, part, "attn1", normal, part.only_cross ? text : normal,
                               part.only_cross ? part.text : part.size)});
    normal = normalize(b, x, "norm2", part.size, kNorm);
    x = b.op("Add", {x, attend(b, part, "attn2", normal, text, part.text)});
    normal = normalize(b, x, "norm3", part.size, kNorm);
    x = b.op("Add",
             {x, diffusion_feed_forward(b, normal, "ff", part.size, 4 * part.size, "geglu")});
  }
  point.name = "proj_out";
  if (part.linear) {
    x = tokens_to_grid(b, linear(b, x, {"proj_out", part.size, part.size, true}), grid);
  } else {
    x = convolve(b, tokens_to_grid(b, x, grid), point);
  }
  return b.op("Add", {grid, x});
}

// The values that every block reads.
struct Conditions {
  ValueId step, text;
};

ValueId residual_at(GraphBuilder& b, const UNet& net, ValueId x, const Conditions& given,
                    int64_t in, int64_t out, int64_t index) {
  auto scope = b.scope("resnets", index);
  return run_residual(b, x, given.step,
                      {.in = in,
                       .out = out,
                       .groups = net.groups,
                       .epsilon = net.epsilon,
                       .step_size = net.step_size,
                       .scale_shift = net.scale_shift});
}

ValueId transformer_at(GraphBuilder& b, const UNet& net, ValueId x, const Conditions& given,
                       size_t block, int64_t blocks, bool only_cross, int64_t index) {
  auto scope = b.scope("attentions", index);
  Transformer part{net.sizes[block], net.heads[block],      net.text[block],
                   blocks,           net.linear_projection, only_cross};
  return run_transformer(b, net, part, x, given.text);
}

// The grid after each block, which the way up reads again.
struct Kept {
  ValueId grid;
  int64_t size;
};

ValueId run_down(GraphBuilder& b, const UNet& net, ValueId x, const Conditions& given,
                 std::vector<Kept>& kept) {
  int64_t size = net.sizes[0];
  kept.push_back({x, size});
  for (size_t i = 0; i < net.sizes.size(); ++i) {
    auto scope = b.scope("down_blocks", static_cast<int64_t>(i));
    for (int64_t layer = 0; layer < net.layers[i]; ++layer) {
      x = residual_at(b, net, x, given, size, net.sizes[i], layer);
      size = net.sizes[i];
      if (net.attends_down[i])
        x = transformer_at(b, net, x, given, i, net.transformers[i], net.only_cross[i], layer);
      kept.push_back({x, size});
    }
    if (i + 1 == net.sizes.size()) break;
    x = convolve(b, x,
                 {.name = "downsamplers.0.conv",
                  .in = size,
                  .out = size,
                  .kernel = 3,
                  .stride = 2,
                  .padding = net.padding});
    kept.push_back({x, size});
  }
  return x;
}

ValueId run_middle(GraphBuilder& b, const UNet& net, ValueId x, const Conditions& given) {
  auto scope = b.scope("mid_block");
  size_t last = net.sizes.size() - 1;
  int64_t size = net.sizes[last];
  x = residual_at(b, net, x, given, size, size, 0);
  if (!net.middle_attends) return x;
  x = transformer_at(b, net, x, given, last, net.transformers[last], false, 0);
  return residual_at(b, net, x, given, size, size, 1);
}

ValueId run_up(GraphBuilder& b, const UNet& net, ValueId x, const Conditions& given,
               std::vector<Kept>& kept) {
  size_t blocks = net.sizes.size();
  int64_t size = net.sizes[blocks - 1];
  for (size_t i = 0; i < blocks; ++i) {
    auto scope = b.scope("up_blocks", static_cast<int64_t>(i));
    size_t block = blocks - 1 - i;
    int64_t out = net.sizes[block];
    for (int64_t layer = 0; layer <= net.layers[block]; ++layer) {
      if (kept.empty()) throw Error("more blocks go up than down");
      Kept before = kept.back();
      kept.pop_back();
      x = b.op("Concat", {x, before.grid}, {attribute("axis", int64_t{1})});
      x = residual_at(b, net, x, given, size + before.size, out, layer);
      size = out;
      if (net.attends_up[i])
        x = transformer_at(b, net, x, given, block, net.transformers_up[i], net.only_cross[block],
                           layer);
    }
    if (i + 1 == blocks) break;
    if (kept.empty()) throw Error("more blocks go up than down");
    x = upsample_like(b, x, kept.back().grid);
    x = convolve(b, x,
                 {.name = "upsamplers.0.conv", .in = size, .out = size, .kernel = 3, .padding = 1});
  }
  return x;
}

ValueId embed_class(GraphBuilder& b, const UNet& net, const ModelConfig& config, ValueId step) {
  std::string kind = config.text("class_embed_type");
  int64_t classes = config.integer("num_class_embeds", 0),
          width = config.integer("projection_class_embeddings_input_dim", 0);
  ValueId added;
  if (kind.empty() && classes > 0) {
    added = embed(b, "class_embedding", classes, net.step_size,
                  b.input("class_labels", DType::kInt64, {b.batch(), Expr(1)}))
                .rows;
  } else if (kind == "timestep") {
    added = embed_timestep(b, "class_labels", "class_embedding", net.sizes[0], net.step_size);
  } else if (kind == "projection" || kind == "simple_projection") {
    ValueId labels =
        b.input("class_labels", b.activation_dtype(), {b.batch(), Expr(1), Expr(width)});
    added = kind == "projection"
                ? embed_vector(b, labels, "class_embedding", width, net.step_size)
                : linear(b, labels, {"class_embedding", width, net.step_size, true});
  } else if (!kind.empty() && kind != "identity") {
    throw Error("classes as '" + kind + "' are not known");
  }
  return added ? b.op("Add", {step, added}) : step;
}

ValueId embed_step(GraphBuilder& b, const UNet& net, const ModelConfig& config) {
  int64_t guided = config.integer("time_cond_proj_dim", 0), first = net.sizes[0];
  ValueId step =
      b.ours("TimestepEmbedding", {b.input("timestep", b.activation_dtype(), {b.batch()})},
             {attribute("size", first)});
  if (guided > 0) {
    auto scope = b.scope("time_embedding");
    ValueId guidance =
        b.input("timestep_cond", b.activation_dtype(), {b.batch(), Expr(1), Expr(guided)});
    step = b.op("Add", {step, linear(b, guidance, {"cond_proj", guided, first})});
  }
  step = embed_class(b, net, config, embed_vector(b, step, "time_embedding", first, net.step_size));
  std::string added = config.text("addition_embed_type");
  if (added.empty()) return step;
  if (added != "text_time")
    throw Error("what is added to the step as '" + added + "' is not known");
  int64_t width = config.require("projection_class_embeddings_input_dim");
  ValueId sizes =
      b.input("added_conditions", b.activation_dtype(), {b.batch(), Expr(1), Expr(width)});
  return b.op("Add", {step, embed_vector(b, sizes, "add_embedding", width, net.step_size)});
}

ValueId embed_text(GraphBuilder& b, const UNet& net, const ModelConfig& config) {
  int64_t given = config.integer("encoder_hid_dim", 0);
  std::string kind = config.text("encoder_hid_dim_type", given > 0 ? "text_proj" : "");
  if (kind.empty()) return text_input(b, net.text[0], 77);
  if (kind != "text_proj") throw Error("text as '" + kind + "' is not known");
  return linear(b, text_input(b, given, 77), {"encoder_hid_proj", given, net.text[0], true});
}

}  // namespace

void build_unet(GraphBuilder& builder, const ModelConfig& config) {
  UNet net = unet_of(config);
  constexpr int64_t kPixelsOfLatent = 8;
  ValueId x = latent_input(builder, net.in, config.integer("sample_size", 64) * kPixelsOfLatent);
  Conditions given{embed_step(builder, net, config), embed_text(builder, net, config)};
  int64_t kernel = config.integer("conv_in_kernel", 3);
  x = convolve(builder, x,
               {.name = "conv_in",
                .in = net.in,
                .out = net.sizes[0],
                .kernel = kernel,
                .padding = (kernel - 1) / 2});
  std::vector<Kept> kept;
  x = run_middle(builder, net, run_down(builder, net, x, given, kept), given);
  x = run_up(builder, net, x, given, kept);
  x = activate(builder,
               normalize_grid(builder, x, "conv_norm_out", net.sizes[0], net.groups, net.epsilon),
               "silu");
  kernel = config.integer("conv_out_kernel", 3);
  builder.output(convolve(builder, x,
                          {.name = "conv_out",
                           .in = net.sizes[0],
                           .out = net.out,
                           .kernel = kernel,
                           .padding = (kernel - 1) / 2}));
}

}  // namespace kcharter
