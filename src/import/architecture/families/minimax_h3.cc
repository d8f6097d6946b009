// MiniMax-H3, which makes video and its sound: text, sound and video are one sequence, and every block
// shifts, scales and gates each of the three with vectors of its own. Known under two sets of names, that
// of its authors and that of diffusers. What touches samples and the step is stored in f32.
#include <array>

#include "import/architecture/families/diffusion_families.h"
#include "import/architecture/joint_transformer.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr size_t kStreams = 3;  // text, sound, video
constexpr int64_t kImageSize = 1024, kTextTokens = 512, kSoundTokens = 256;
using Parts = std::array<ValueId, kStreams>;

struct Names {
  const char *video_in, *sound_in, *text_in, *step_in, *step_out, *blocks, *refiner_blocks, *attention, *fused;
  const char *query_norm, *key_norm, *attention_out, *up, *down;
  const char *final_norm, *final_vectors, *video_out, *sound_out;
};
constexpr Names kAuthors = {
    "video_patch_proj", "audio_patch_proj", "condition_proj", "time_embedder.proj_in", "time_embedder.proj_out",
    "blocks", "token_refiner.blocks", "attn", "qkv_proj", "q_norm", "k_norm", "out_proj", "mlp.fc1", "mlp.fc2",
    "final_layer.norm", "final_layer.adaln_proj.linear", "final_layer.video_out", "final_layer.audio_out"};
constexpr Names kDiffusers = {
    "proj_in", "audio_proj_in", "context_embedder", "time_embedder.linear_1", "time_embedder.linear_2",
    "transformer_blocks", "token_refiner.refiner_blocks", "attn", "", "norm_q", "norm_k", "to_out.0",
    "ff.net.0.proj", "ff.net.2", "norm_out.norm", "norm_out.linear", "proj_out", "audio_proj_out"};

struct Sizes {
  int64_t size, heads, head_dim, inner, layers, refiners, video, sound, text, step_in, step_hidden, step;
  double epsilon;
};

Sizes checked(Sizes sizes) {
  for (int64_t value : {sizes.size, sizes.heads, sizes.head_dim, sizes.inner, sizes.video, sizes.sound, sizes.text,
                        sizes.step_in, sizes.step_hidden, sizes.step}) {
    if (value < 1 || value > 1'000'000) {
      throw Error("a size of the model is " + std::to_string(value) + ", but must be 1 to 1000000");
    }
  }
  for (int64_t value : {sizes.layers, sizes.refiners}) {
    if (value < 0 || value > 10'000) {
      throw Error("the number of layers is " + std::to_string(value) + ", but must be 0 to 10000");
    }
  }
  return sizes;
}

Sizes sizes_of(const ModelConfig& c, bool authors) {
  auto of = [&](const char* first, const char* second) { return c.require(authors ? first : second); };
  int64_t patch = 1;
  for (int64_t side : c.integers("patch_size")) {
    if (side < 1 || side > 1024) throw Error("patch_size has a side of " + std::to_string(side));
    patch *= side;
    if (patch > 1'000'000) throw Error("a patch of patch_size has more than 1000000 points");
  }
  int64_t channels = of("latents_dim", "in_channels");
  if (channels < 1 || channels > 10'000) throw Error("a latent has " + std::to_string(channels) + " channels");
  return checked({c.require("hidden_size"), c.require("num_attention_heads"), c.require("attention_head_dim"),
                  of("ffn_hidden_size", "ffn_dim"), c.require("num_layers"),
                  of("token_refiner_num_layers", "num_refiner_layers"), channels * patch,
                  of("audio_latents_dim", "audio_in_channels"), c.require("text_dim"),
                  of("timestep_input_dim", "freq_dim"), of("time_embed_hidden_size", "time_embed_hidden_dim"),
                  c.require("time_embed_dim"), c.number("norm_eps", 1e-5)});
}

// In f32, whatever the type of the other weights.
ValueId precise_linear(GraphBuilder& b, ValueId x, const char* name, int64_t in, int64_t out) {
  auto scope = b.scope(name);
  ValueId y = b.op("MatMul", {x, b.parameter("weight", {out, in}, {in, out}, DType::kF32)});
  return b.op("Add", {y, b.parameter("bias", {out}, {}, DType::kF32)});
}

// Patches of latent frames; a patch is 32 pixels each way: 16 of the autoencoder, by 2 of patch_size.
ValueId video_input(GraphBuilder& b, int64_t width) {
  constexpr int64_t kPixels = 32;
  Expr frames = b.variable("latent_frame_count", "Frames of the latent video", 1);
  ImageSize free = free_image_size(b, kImageSize);
  Expr tokens = frames * floor_div(free.height, Expr(kPixels)) * floor_div(free.width, Expr(kPixels));
  return b.input("hidden_states", b.activation_dtype(), {b.batch(), tokens, Expr(width)});
}

ValueId join(GraphBuilder& b, const Parts& x) {
  return b.op("Concat", {x[0], x[1], x[2]}, {attribute("axis", int64_t{1})});
}

// The sequence as its parts, of the lengths of `like`.
Parts divide(GraphBuilder& b, ValueId all, const Parts& like) {
  Attribute last = attribute("last", int64_t{1});
  ValueId first = b.op("Concat", {like[0], like[1]}, {attribute("axis", int64_t{1})});
  ValueId start = b.ours("TokensLike", {all, first});
  return {b.ours("TokensLike", {start, like[0]}), b.ours("TokensLike", {start, like[1]}, {last}),
          b.ours("TokensLike", {all, like[2]}, {last})};
}

ValueId attend(GraphBuilder& b, const Names& names, const Sizes& s, ValueId x) {
  auto scope = b.scope(names.attention);
  int64_t width = s.heads * s.head_dim;
  Heads heads{s.heads, s.head_dim, true, true};
  std::vector<ValueId> parts;
  if (*names.fused) {
    parts = b.split(linear(b, x, {names.fused, s.size, 3 * width}), {width, width, width});
  } else {
    for (const char* name : {"to_q", "to_k", "to_v"}) parts.push_back(linear(b, x, {name, s.size, width}));
  }
  ValueId q = normalize_each_head(b, parts[0], names.query_norm, heads),
          k = normalize_each_head(b, parts[1], names.key_norm, heads);
  return linear(b, attend_rotated(b, q, k, parts[2], heads), {names.attention_out, width, s.size});
}

ValueId feed_forward(GraphBuilder& b, const Names& names, const Sizes& s, ValueId x) {
  std::vector<ValueId> halves = b.split(linear(b, x, {names.up, s.size, 2 * s.inner}), {s.inner, s.inner});
  return linear(b, b.op("Mul", {activate(b, halves[0], "silu"), halves[1]}), {names.down, s.inner, s.size});
}

ValueId rms(GraphBuilder& b, ValueId x, const char* name, const Sizes& s) {
  return normalize(b, x, name, s.size, {.kind = NormKind::kRms, .epsilon = s.epsilon});
}

ValueId shifted(GraphBuilder& b, ValueId x, ValueId shift, ValueId scale) {
  return b.op("Add", {b.op("Add", {x, b.op("Mul", {x, scale})}), shift});
}

ValueId refine(GraphBuilder& b, const Names& names, const Sizes& s, ValueId text) {
  for (int64_t i = 0; i < s.refiners; ++i) {
    auto scope = b.scope(names.refiner_blocks, i);
    text = b.op("Add", {text, attend(b, names, s, rms(b, text, "norm1", s))});
    text = b.op("Add", {text, feed_forward(b, names, s, rms(b, text, "norm2", s))});
  }
  return rms(b, text, "token_refiner.final_norm", s);
}

// The step's vector is narrower than the model.
std::vector<ValueId> vectors_of(GraphBuilder& b, ValueId step, const char* name, const Sizes& s, size_t count) {
  ValueId all = linear(b, step, {name, s.step, static_cast<int64_t>(count) * s.size, true});
  return b.split(all, std::vector<int64_t>(count, s.size));
}

// Shift, scale and gate of the attention, then of the feed-forward block, for each part.
Parts run_block(GraphBuilder& b, const Names& names, const Sizes& s, Parts x, ValueId step) {
  std::vector<ValueId> vectors = vectors_of(b, step, "adaln_proj.linear", s, 6 * kStreams);
  for (size_t half : {0, 3}) {
    Parts normal = divide(b, rms(b, join(b, x), half == 0 ? "norm1" : "norm2", s), x);
    for (size_t i = 0; i < kStreams; ++i) {
      normal[i] = shifted(b, normal[i], vectors[6 * i + half], vectors[6 * i + half + 1]);
    }
    ValueId all = join(b, normal);
    Parts change = divide(b, half == 0 ? attend(b, names, s, all) : feed_forward(b, names, s, all), x);
    for (size_t i = 0; i < kStreams; ++i) x[i] = add_gated(b, x[i], vectors[6 * i + half + 2], change[i]);
  }
  return x;
}

void build_minimax_h3(GraphBuilder& b, const ModelConfig& config, const Names& names, bool authors) {
  Sizes s = sizes_of(config, authors);
  ValueId video = video_input(b, s.video);
  Expr length = b.variable("audio_sequence_length", "Tokens of the sound", kSoundTokens);
  ValueId sound = b.input("audio_hidden_states", b.activation_dtype(), {b.batch(), length, Expr(s.sound)});
  ValueId step = b.input("timestep", b.activation_dtype(), {b.batch()});
  step = b.ours("TimestepEmbedding", {step}, {attribute("size", s.step_in)});
  step = activate(b, precise_linear(b, step, names.step_in, s.step_in, s.step_hidden), "silu");
  step = activate(b, precise_linear(b, step, names.step_out, s.step_hidden, s.step), "silu");
  ValueId text = linear(b, text_input(b, s.text, kTextTokens), {names.text_in, s.text, s.size, true});
  Parts x = {refine(b, names, s, text), precise_linear(b, sound, names.sound_in, s.sound, s.size),
             precise_linear(b, video, names.video_in, s.video, s.size)};
  for (int64_t i = 0; i < s.layers; ++i) {
    auto scope = b.scope(names.blocks, i);
    x = run_block(b, names, s, x, step);
  }
  x = divide(b, rms(b, join(b, x), names.final_norm, s), x);
  std::vector<ValueId> last = vectors_of(b, step, names.final_vectors, s, 2);
  b.output(precise_linear(b, shifted(b, x[2], last[0], last[1]), names.video_out, s.size, s.video));
  b.output(precise_linear(b, shifted(b, x[1], last[0], last[1]), names.sound_out, s.size, s.sound));
}

}  // namespace

void build_minimax_h3_authors(GraphBuilder& builder, const ModelConfig& config) {
  int64_t frequencies = config.require("rope_inv_freq_len");
  build_minimax_h3(builder, config, kAuthors, true);
  auto scope = builder.scope("rope");
  builder.buffer("inv_freq", {frequencies}, DType::kF32);
}

void build_minimax_h3_diffusers(GraphBuilder& builder, const ModelConfig& config) {
  build_minimax_h3(builder, config, kDiffusers, false);
}

}  // namespace kcharter
