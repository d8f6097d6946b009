// FLUX.1 and FLUX.2: blocks of two streams, then blocks of one that run attention and feed-forward
// side by side. Also Qwen-Image and Stable Diffusion 3, which have the first kind alone.
#include <algorithm>

#include "import/architecture/families/diffusion_families.h"
#include "import/architecture/joint_transformer.h"
#include "import/architecture/vision.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr int64_t kStepSize = 256;
constexpr int64_t kImageSize = 1024;

struct Sizes {
  int64_t heads, head_dim, layers, single_layers, in, out, text;
  int64_t size() const { return heads * head_dim; }
};

Sizes sizes_of(const ModelConfig& config, const char* defaults) {
  ModelConfig full = config.with_defaults(ModelConfig::parse(defaults));
  Sizes sizes{full.require("num_attention_heads"), full.require("attention_head_dim"),
              full.require("num_layers"),          full.integer("num_single_layers", 0),
              full.require("in_channels"),         0,
              full.require("joint_attention_dim")};
  sizes.out = full.integer("out_channels", sizes.in);
  if (sizes.heads < 1 || sizes.heads > 10'000 || sizes.head_dim < 1 || sizes.head_dim > 100'000 ||
      sizes.layers > 10'000 || sizes.single_layers < 0 || sizes.single_layers > 10'000) {
    throw Error("heads, their size or the number of layers is out of range");
  }
  return sizes;
}

ValueId sum(GraphBuilder& b, ValueId x, ValueId y) { return b.op("Add", {x, y}); }

// The step, the text as one vector and, where a model is guided by a number, that.
ValueId embed_conditions(GraphBuilder& b, const ModelConfig& config, int64_t size, bool guided,
                         int64_t pooled) {
  auto scope = b.scope("time_text_embed");
  ValueId step = embed_timestep(b, "timestep", "timestep_embedder", kStepSize, size);
  if (guided)
    step = sum(b, step, embed_timestep(b, "guidance", "guidance_embedder", kStepSize, size));
  int64_t width = config.integer("pooled_projection_dim", pooled);
  ValueId text =
      b.input("pooled_projections", b.activation_dtype(), {b.batch(), Expr(1), Expr(width)});
  return sum(b, step, embed_vector(b, text, "text_embedder", width, size));
}

ValueId join(GraphBuilder& b, Streams x) {
  return b.op("Concat", {x.text, x.image}, {attribute("axis", int64_t{1})});
}

// Text first, then the image.
ValueId image_part(GraphBuilder& b, ValueId x, ValueId image) {
  return b.ours("TokensLike", {x, image}, {attribute("last", int64_t{1})});
}

ValueId run_flux_single(GraphBuilder& b, const Sizes& sizes, ValueId x, ValueId step) {
  int64_t size = sizes.size(), inner = 4 * size;
  Heads heads{sizes.heads, sizes.head_dim, true, true};
  std::vector<ValueId> vectors = modulations(b, step, "norm.linear", size, 3);
  ValueId normal = modulated_norm(b, x, vectors[0], vectors[1]);
  ValueId fed = activate(b, linear(b, normal, {"proj_mlp", size, inner, true}), "gelu_tanh");
  ValueId mixed;
  {
    auto scope = b.scope("attn");
    ValueId q =
        normalize_each_head(b, linear(b, normal, {"to_q", size, size, true}), "norm_q", heads);
    ValueId k =
        normalize_each_head(b, linear(b, normal, {"to_k", size, size, true}), "norm_k", heads);
    mixed = attend_rotated(b, q, k, linear(b, normal, {"to_v", size, size, true}), heads);
  }
  ValueId both = b.op("Concat", {mixed, fed}, {attribute("axis", int64_t{2})});
  return add_gated(b, x, vectors[2], linear(b, both, {"proj_out", size + inner, size, true}));
}

// One matrix makes queries, keys, values and both halves of the feed-forward block.
ValueId run_flux2_single(GraphBuilder& b, const Sizes& sizes, int64_t inner, ValueId x,
                         const std::vector<ValueId>& vectors) {
  int64_t size = sizes.size();
  Heads heads{sizes.heads, sizes.head_dim, true, true};
  ValueId normal = modulated_norm(b, x, vectors[0], vectors[1]);
  auto scope = b.scope("attn");
  ValueId all = linear(b, normal, {"to_qkv_mlp_proj", size, 3 * size + 2 * inner});
  std::vector<ValueId> parts = b.split(all, {size, size, size, inner, inner});
  ValueId q = normalize_each_head(b, parts[0], "norm_q", heads),
          k = normalize_each_head(b, parts[1], "norm_k", heads);
  ValueId mixed = attend_rotated(b, q, k, parts[2], heads);
  ValueId fed = b.op("Mul", {activate(b, parts[3], "silu"), parts[4]});
  ValueId both = b.op("Concat", {mixed, fed}, {attribute("axis", int64_t{2})});
  return add_gated(b, x, vectors[2], linear(b, both, {"to_out", size + inner, size}));
}

Streams run_joint_blocks(GraphBuilder& b, const JointBlock& part, int64_t layers, Streams x,
                         ValueId step) {
  for (int64_t i = 0; i < layers; ++i) {
    auto scope = b.scope("transformer_blocks", i);
    x = run_joint_block(b, part, x, step);
  }
  return x;
}

JointBlock joint_block_of(const Sizes& sizes) {
  JointBlock part;
  part.size = sizes.size();
  part.heads = sizes.heads;
  part.head_dim = sizes.head_dim;
  part.inner = 4 * sizes.size();
  return part;
}

}  // namespace

void build_flux(GraphBuilder& builder, const ModelConfig& config) {
  Sizes sizes =
      sizes_of(config, R"({"num_attention_heads": 24, "attention_head_dim": 128, "num_layers": 19,
    "num_single_layers": 38, "in_channels": 64, "joint_attention_dim": 4096})");
  Streams x{latent_tokens_input(builder, sizes.in, kImageSize),
            text_input(builder, sizes.text, 512)};
  ValueId step =
      embed_conditions(builder, config, sizes.size(), config.flag("guidance_embeds", false), 768);
  x.text = linear(builder, x.text, {"context_embedder", sizes.text, sizes.size(), true});
  x.image = linear(builder, x.image, {"x_embedder", sizes.in, sizes.size(), true});
  x = run_joint_blocks(builder, joint_block_of(sizes), sizes.layers, x, step);
  ValueId all = join(builder, x);
  for (int64_t i = 0; i < sizes.single_layers; ++i) {
    auto scope = builder.scope("single_transformer_blocks", i);
    all = run_flux_single(builder, sizes, all, step);
  }
  int64_t patch = config.integer("patch_size", 1);
  builder.output(finish_patches(builder, image_part(builder, all, x.image), step, sizes.size(),
                                patch * patch * sizes.out));
}

// All blocks of a kind share what the step does to them; no biases.
void build_flux2(GraphBuilder& builder, const ModelConfig& config) {
  Sizes sizes =
      sizes_of(config, R"({"num_attention_heads": 48, "attention_head_dim": 128, "num_layers": 8,
    "num_single_layers": 48, "in_channels": 128, "joint_attention_dim": 15360})");
  int64_t size = sizes.size(), step_size = config.integer("timestep_guidance_channels", kStepSize);
  JointBlock part = joint_block_of(sizes);
  part.bias = false;
  part.gated = true;
  part.inner = static_cast<int64_t>(config.number("mlp_ratio", 3) * static_cast<double>(size));
  Streams x{latent_tokens_input(builder, sizes.in, kImageSize),
            text_input(builder, sizes.text, 512)};
  ValueId step;
  {
    auto scope = builder.scope("time_guidance_embed");
    step = embed_timestep(builder, "timestep", "timestep_embedder", step_size, size, false);
    if (config.flag("guidance_embeds", true)) {
      step = sum(builder, step,
                 embed_timestep(builder, "guidance", "guidance_embedder", step_size, size, false));
    }
  }
  part.image_vectors =
      modulations(builder, step, "double_stream_modulation_img.linear", size, 6, false);
  part.text_vectors =
      modulations(builder, step, "double_stream_modulation_txt.linear", size, 6, false);
  std::vector<ValueId> single =
      modulations(builder, step, "single_stream_modulation.linear", size, 3, false);
  x.image = linear(builder, x.image, {"x_embedder", sizes.in, size});
  x.text = linear(builder, x.text, {"context_embedder", sizes.text, size});
  x = run_joint_blocks(builder, part, sizes.layers, x, step);
  ValueId all = join(builder, x);
  for (int64_t i = 0; i < sizes.single_layers; ++i) {
    auto scope = builder.scope("single_transformer_blocks", i);
    all = run_flux2_single(builder, sizes, part.inner, all, single);
  }
  int64_t patch = config.integer("patch_size", 1);
  builder.output(finish_patches(builder, image_part(builder, all, x.image), step, size,
                                patch * patch * sizes.out, false));
}

void build_qwen_image(GraphBuilder& builder, const ModelConfig& config) {
  Sizes sizes =
      sizes_of(config, R"({"num_attention_heads": 24, "attention_head_dim": 128, "num_layers": 60,
    "in_channels": 64, "out_channels": 16, "joint_attention_dim": 3584})");
  int64_t size = sizes.size();
  Streams x{latent_tokens_input(builder, sizes.in, kImageSize),
            text_input(builder, sizes.text, 512)};
  ValueId step;
  {
    auto scope = builder.scope("time_text_embed");
    step = embed_timestep(builder, "timestep", "timestep_embedder", kStepSize, size);
    if (config.flag("use_additional_t_cond", false)) {
      ValueId kind = builder.input("addition_t_cond", DType::kInt64, {builder.batch(), Expr(1)});
      step = sum(builder, step, embed(builder, "addition_t_embedding", 2, size, kind).rows);
    }
  }
  x.text = normalize(builder, x.text, "txt_norm", sizes.text, {.kind = NormKind::kRms});
  x.image = linear(builder, x.image, {"img_in", sizes.in, size, true});
  x.text = linear(builder, x.text, {"txt_in", sizes.text, size, true});
  JointBlock part = joint_block_of(sizes);
  part.image_modulation = "img_mod.1";
  part.text_modulation = "txt_mod.1";
  part.image_feed_forward = "img_mlp";
  part.text_feed_forward = "txt_mlp";
  x = run_joint_blocks(builder, part, sizes.layers, x, step);
  int64_t patch = config.integer("patch_size", 2);
  builder.output(finish_patches(builder, x.image, step, size, patch * patch * sizes.out));
}

// Positions are a stored table of sines, of which the middle is taken.
void build_sd3(GraphBuilder& builder, const ModelConfig& config) {
  Sizes sizes =
      sizes_of(config, R"({"num_attention_heads": 18, "attention_head_dim": 64, "num_layers": 18,
    "in_channels": 16, "joint_attention_dim": 4096})");
  sizes.out = config.integer("out_channels", 16);
  int64_t size = sizes.size(), patch = config.integer("patch_size", 2),
          side = config.integer("pos_embed_max_size", 96);
  ValueId latents = latent_input(builder, sizes.in, config.integer("sample_size", 128) * 8);
  Streams x;
  {
    auto scope = builder.scope("pos_embed");
    x.image = grid_to_tokens(
        builder,
        convolve(builder, latents,
                 {.name = "proj", .in = sizes.in, .out = size, .kernel = patch, .stride = patch}));
    ValueId table = builder.buffer_value("pos_embed", {1, side * side, size});
    x.image = builder.ours("AddPositions", {x.image, table});
  }
  ValueId step = embed_conditions(builder, config, size, false, 2048);
  // 77 tokens of CLIP and 256 of T5.
  x.text = linear(
      builder, text_input(builder, sizes.text, 333),
      {"context_embedder", sizes.text, config.integer("caption_projection_dim", size), true});
  JointBlock part = joint_block_of(sizes);
  part.rotary = false;
  part.query_key_norm = config.text("qk_norm") == "rms_norm";
  if (!part.query_key_norm && config.has("qk_norm"))
    throw Error("norm of queries and keys '" + config.text("qk_norm") + "' is not known");
  std::vector<int64_t> dual = config.integers("dual_attention_layers");
  for (int64_t i = 0; i < sizes.layers; ++i) {
    auto scope = builder.scope("transformer_blocks", i);
    part.last = i + 1 == sizes.layers;
    part.dual = std::find(dual.begin(), dual.end(), i) != dual.end();
    x = run_joint_block(builder, part, x, step);
  }
  builder.output(finish_patches(builder, x.image, step, size, patch * patch * sizes.out));
}

}  // namespace kcharter
