// Mochi 1: blocks of two streams of different width, video and text, that attend together; norms have no
// weights, the step scales and gates them. Names are those of diffusers.
#include "import/architecture/attention.h"
#include "import/architecture/families/diffusion_families.h"
#include "import/architecture/joint_transformer.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Sizes {
  int64_t size, heads, head_dim, text_size, layers, channels, out, patch, text, tokens, step;
};

Sizes sizes_of(const ModelConfig& config) {
  ModelConfig c = config.with_defaults(ModelConfig::parse(R"({"num_attention_heads": 24, "attention_head_dim": 128,
    "num_layers": 48, "pooled_projection_dim": 1536, "in_channels": 12, "patch_size": 2, "text_embed_dim": 4096,
    "max_sequence_length": 256, "time_embed_dim": 256})"));
  Sizes s{0, c.require("num_attention_heads"), c.require("attention_head_dim"), c.require("pooled_projection_dim"),
          c.require("num_layers"), c.require("in_channels"), 0, c.require("patch_size"), c.require("text_embed_dim"),
          c.require("max_sequence_length"), c.require("time_embed_dim")};
  s.out = c.integer("out_channels", s.channels);
  for (int64_t value : {s.heads, s.head_dim, s.text_size, s.channels, s.out, s.patch, s.text, s.tokens, s.step}) {
    if (value < 1 || value > 100'000) throw Error("a size of the model is " + std::to_string(value));
  }
  if (s.heads > 10'000 || s.head_dim % 2 != 0 || s.patch > 100 || s.layers > 10'000) {
    throw Error("heads, their size, the patch or the number of layers is out of range");
  }
  s.size = s.heads * s.head_dim;
  return s;
}

ValueId bare_norm(GraphBuilder& b, ValueId x) {
  return b.ours("RMSNormalization", {x}, {attribute("axis", int64_t{-1})});
}

ValueId scaled_norm(GraphBuilder& b, ValueId x, ValueId factor) {
  ValueId normal = bare_norm(b, x);
  return b.op("Add", {normal, b.op("Mul", {normal, factor})});
}

// Two vectors for the attention, two for the feed-forward block.
std::vector<ValueId> vectors_of(GraphBuilder& b, ValueId step, const char* name, int64_t in, int64_t size,
                                size_t count) {
  ValueId all = linear(b, activate(b, step, "silu"), {name, in, static_cast<int64_t>(count) * size, true});
  return b.split(all, std::vector<int64_t>(count, size));
}

ValueId feed_forward(GraphBuilder& b, ValueId x, const char* name, int64_t size) {
  auto scope = b.scope(name);
  int64_t inner = 4 * size * 2 / 3;
  std::vector<ValueId> halves = b.split(linear(b, x, {"net.0.proj", size, 2 * inner}), {inner, inner});
  return linear(b, b.op("Mul", {halves[0], activate(b, halves[1], "silu")}), {"net.2", inner, size});
}

Streams attend(GraphBuilder& b, const Sizes& s, Streams x, bool last) {
  auto scope = b.scope("attn1");
  Heads heads{s.heads, s.head_dim, true, true};
  auto of = [&](ValueId from, const char* name, int64_t in) { return linear(b, from, {name, in, s.size}); };
  auto rotated = [&](ValueId value) {
    return b.ours("RotaryEmbedding", {value},
                  {attribute("num_heads", s.heads), attribute("head_dim", s.head_dim),
                   attribute("rotary_dim", s.head_dim)});
  };
  auto both = [&](ValueId image, ValueId text) {
    return b.op("Concat", {image, text}, {attribute("axis", int64_t{1})});
  };
  ValueId q = both(rotated(normalize_each_head(b, of(x.image, "to_q", s.size), "norm_q", heads)),
                   normalize_each_head(b, of(x.text, "add_q_proj", s.text_size), "norm_added_q", heads));
  ValueId k = both(rotated(normalize_each_head(b, of(x.image, "to_k", s.size), "norm_k", heads)),
                   normalize_each_head(b, of(x.text, "add_k_proj", s.text_size), "norm_added_k", heads));
  ValueId v = both(of(x.image, "to_v", s.size), of(x.text, "add_v_proj", s.text_size));
  ValueId mixed = attend_to_all(b, q, k, v, s.heads, s.head_dim);
  Streams result{linear(b, b.ours("TokensLike", {mixed, x.image}), {"to_out.0", s.size, s.size, true}), {}};
  if (last) return result;
  ValueId of_text = b.ours("TokensLike", {mixed, x.text}, {attribute("last", int64_t{1})});
  result.text = linear(b, of_text, {"to_add_out", s.size, s.text_size, true});
  return result;
}

// What a block changes is normalized before it is added.
ValueId add_change(GraphBuilder& b, ValueId x, ValueId gate, ValueId change) {
  return b.op("Add", {x, scaled_norm(b, change, activate(b, gate, "tanh"))});
}

Streams run_block(GraphBuilder& b, const Sizes& s, Streams x, ValueId step, bool last) {
  std::vector<ValueId> image = vectors_of(b, step, "norm1.linear", s.size, s.size, 4);
  std::vector<ValueId> text = vectors_of(b, step, last ? "norm1_context.linear_1" : "norm1_context.linear", s.size,
                                         s.text_size, last ? 1 : 4);
  Streams mixed = attend(b, s, {scaled_norm(b, x.image, image[0]), scaled_norm(b, x.text, text[0])}, last);
  x.image = add_change(b, x.image, image[1], mixed.image);
  x.image = add_change(b, x.image, image[3], feed_forward(b, scaled_norm(b, x.image, image[2]), "ff", s.size));
  if (last) return x;
  x.text = add_change(b, x.text, text[1], mixed.text);
  x.text = add_change(b, x.text, text[3],
                      feed_forward(b, scaled_norm(b, x.text, text[2]), "ff_context", s.text_size));
  return x;
}

// The step, and the text pooled by attention of its mean to its tokens.
ValueId embed_conditions(GraphBuilder& b, const Sizes& s, ValueId& text) {
  auto scope = b.scope("time_embed");
  ValueId step = embed_timestep(b, "timestep", "timestep_embedder", s.step, s.size);
  ValueId pooled;
  {
    auto pooler = b.scope("pooler");
    std::vector<ValueId> kv = b.split(linear(b, text, {"to_kv", s.text, 2 * s.text, true}), {s.text, s.text});
    ValueId mean = b.ours("PoolTokens", {text}, {attribute("tokens", int64_t{1})});
    ValueId query = linear(b, mean, {"to_q", s.text, s.text, true});
    constexpr int64_t kHeads = 8;
    if (s.text % kHeads != 0) throw Error("'text_embed_dim' is " + std::to_string(s.text) + ", no multiple of 8");
    ValueId mixed = attend_to_all(b, query, kv[0], kv[1], kHeads, s.text / kHeads);
    pooled = linear(b, mixed, {"to_out", s.text, s.size, true});
  }
  text = linear(b, text, {"caption_proj", s.text, s.text_size, true});
  return b.op("Add", {step, pooled});
}

// Patches of all latent frames, a patch 16 pixels each way.
ValueId embed_video(GraphBuilder& b, const Sizes& s) {
  constexpr int64_t kPixelsOfLatent = 8, kImageSize = 480;
  int64_t width = s.channels * s.patch * s.patch;
  Expr frames = b.variable("latent_frame_count", "Frames of the latent video", 1);
  ImageSize free = free_image_size(b, kImageSize);
  Expr side(kPixelsOfLatent * s.patch);
  Expr tokens = frames * floor_div(free.height, side) * floor_div(free.width, side);
  ValueId patches = b.input("hidden_states", b.activation_dtype(), {b.batch(), tokens, Expr(width)});
  auto scope = b.scope("patch_embed.proj");
  ValueId weight = b.parameter("weight", {s.size, s.channels, s.patch, s.patch}, {width, s.size});
  return b.op("Add", {b.op("MatMul", {patches, weight}), b.parameter("bias", {s.size})});
}

}  // namespace

void build_mochi(GraphBuilder& builder, const ModelConfig& config) {
  Sizes s = sizes_of(config);
  builder.context_limit.reset();  // max_sequence_length is that of the text, a variable of its own
  Streams x{embed_video(builder, s), text_input(builder, s.text, s.tokens)};
  builder.parameter("pos_frequencies", {3, s.heads, s.head_dim / 2});
  ValueId step = embed_conditions(builder, s, x.text);
  for (int64_t i = 0; i < s.layers; ++i) {
    auto scope = builder.scope("transformer_blocks", i);
    x = run_block(builder, s, x, step, i + 1 == s.layers);
  }
  builder.output(finish_patches(builder, x.image, step, s.size, s.patch * s.patch * s.out));
}

}  // namespace kcharter
