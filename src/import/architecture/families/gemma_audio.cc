// Gemma 4's audio tower: a conformer. Frames of sound are halved twice by convolutions; each layer
// is half a feed-forward block, attention to near frames, a convolution, the other half.
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Conformer {
  int64_t size = 1024, heads = 8, layers = 12, kernel = 5, chunk = 12, left = 13, right = 0,
          out = 1536;
  bool clipped = true;
  std::string activation = "silu";
  Norm norm;
  int64_t seen() const { return chunk + left - 1 + right; }
};

Conformer conformer_of(const ModelConfig& config) {
  Conformer part;
  part.size = config.integer("hidden_size", 1024);
  part.heads = config.integer("num_attention_heads", 8);
  part.layers = config.integer("num_hidden_layers", 12);
  part.kernel = config.integer("conv_kernel_size", 5);
  part.chunk = config.integer("attention_chunk_size", 12);
  part.left = config.integer("attention_context_left", 13);
  part.right = config.integer("attention_context_right", 0);
  part.out = config.integer("output_proj_dims", 1536);
  part.clipped = config.flag("use_clipped_linears", true);
  part.activation = config.text("hidden_act", "silu");
  part.norm = {.kind = NormKind::kRms, .epsilon = config.number("rms_norm_eps", 1e-6)};
  if (part.heads < 1 || part.layers > 10'000 || part.kernel < 1 || part.chunk < 1 ||
      part.left < 1) {
    throw Error("heads, layers, kernel or context of the audio tower are out of range");
  }
  return part;
}

// A matrix whose input and output are kept between stored bounds.
ValueId bounded(GraphBuilder& b, const Conformer& part, ValueId x, std::string_view name,
                int64_t in, int64_t out) {
  auto scope = b.scope(name);
  if (part.clipped) {
    for (const char* bound : {"input_min", "input_max", "output_min", "output_max"})
      b.buffer(bound, {}, b.options().dtype);
  }
  return linear(b, x, {"linear", in, out});
}

ValueId half_feed_forward(GraphBuilder& b, const Conformer& part, ValueId x, const char* name) {
  auto scope = b.scope(name);
  ValueId y = normalize(b, x, "pre_layer_norm", part.size, part.norm);
  y = activate(b, bounded(b, part, y, "ffw_layer_1", part.size, 4 * part.size), part.activation);
  y = bounded(b, part, y, "ffw_layer_2", 4 * part.size, part.size);
  return b.op("Add", {x, scale(b, normalize(b, y, "post_layer_norm", part.size, part.norm), 0.5)});
}

ValueId attend(GraphBuilder& b, const Conformer& part, ValueId x) {
  ValueId y = normalize(b, x, "norm_pre_attn", part.size, part.norm);
  {
    auto scope = b.scope("self_attn");
    int64_t head = part.size / part.heads;
    ValueId q = bounded(b, part, y, "q_proj", part.size, part.size);
    ValueId k = bounded(b, part, y, "k_proj", part.size, part.size);
    ValueId v = bounded(b, part, y, "v_proj", part.size, part.size);
    ValueId per_dimension = b.parameter("per_dim_scale", {head});
    ValueId distances;
    {
      auto relative = b.scope("relative_k_proj");
      distances = b.parameter("weight", {part.size, part.size});
    }
    ValueId scores = b.ours("RelativeScores", {q, distances, per_dimension},
                            {attribute("num_heads", part.heads), attribute("rows", part.left),
                             attribute("columns", int64_t{0})});
    y = attend_to_all(b, q, k, v, part.heads, head, part.seen(), scores);
    y = bounded(b, part, y, "post", part.size, part.size);
  }
  return b.op("Add", {x, normalize(b, y, "norm_post_attn", part.size, part.norm)});
}

ValueId convolve_frames(GraphBuilder& b, const Conformer& part, ValueId x) {
  auto scope = b.scope("lconv1d");
  auto turned = [&](ValueId value) {
    return b.op("Transpose", {value}, {attribute("perm", std::vector<int64_t>{0, 2, 1})});
  };
  ValueId y = normalize(b, x, "pre_layer_norm", part.size, part.norm);
  std::vector<ValueId> halves = b.split(
      bounded(b, part, y, "linear_start", part.size, 2 * part.size), {part.size, part.size});
  y = b.op("Mul", {halves[0], b.op("Sigmoid", {halves[1]})});
  {
    auto convolution = b.scope("depthwise_conv1d");
    std::vector<ValueId> inputs = {turned(y), b.parameter("weight", {part.size, 1, part.kernel})};
    y = turned(b.op("Conv", std::move(inputs),
                    {attribute("group", part.size),
                     attribute("pads", std::vector<int64_t>{part.kernel - 1, 0})}));
  }
  y = activate(b, normalize(b, y, "conv_norm", part.size, part.norm), part.activation);
  return b.op("Add", {x, bounded(b, part, y, "linear_end", part.size, part.size)});
}

ValueId halve_frames(GraphBuilder& b, ValueId x, const char* name, int64_t in, int64_t out) {
  auto scope = b.scope(name);
  x = convolve(b, x,
               {.name = "conv",
                .in = in,
                .out = out,
                .kernel = 3,
                .stride = 2,
                .padding = 1,
                .bias = false});
  auto norm = b.scope("norm");
  return b.op("Relu", {b.ours("LayerNormalization", {x, b.parameter("weight", {out})},
                              {attribute("axis", int64_t{1})})});
}

ValueId read_frames(GraphBuilder& b, const Conformer& part, const ModelConfig& config) {
  constexpr int64_t kBins = 128;
  auto scope = b.scope("subsample_conv_projection");
  std::vector<int64_t> channels = config.integers("subsampling_conv_channels");
  if (channels.size() != 2) channels = {128, 32};
  ValueId x;
  if (!b.silent()) {
    Expr frames = b.variable("audio_frames", "Frames of sound, 10 ms each", 1000, 0);
    x = b.input("input_features", b.activation_dtype(), {b.batch(), Expr(1), frames, Expr(kBins)});
  }
  x = halve_frames(b, x, "layer0", 1, channels[0]);
  x = halve_frames(b, x, "layer1", channels[0], channels[1]);
  x = b.op("Transpose", {x}, {attribute("perm", std::vector<int64_t>{0, 2, 3, 1})});
  int64_t width = kBins / 4 * channels[1];
  return linear(b, b.reshape(x, {0, 0, width}), {"input_proj_linear", width, part.size});
}

}  // namespace

ValueId run_gemma4_audio(GraphBuilder& b, const ModelConfig& config, int64_t text_size) {
  Conformer part = conformer_of(config);
  ValueId x;
  {
    auto scope = b.scope("model.audio_tower");
    x = read_frames(b, part, config);
    for (int64_t i = 0; i < part.layers; ++i) {
      auto layer = b.scope("layers", i);
      x = attend(b, part, half_feed_forward(b, part, x, "feed_forward1"));
      x = half_feed_forward(b, part, convolve_frames(b, part, x), "feed_forward2");
      x = normalize(b, x, "norm_out", part.size, part.norm);
    }
    x = linear(b, x, {"output_proj", part.size, part.out, true});
  }
  auto projector = b.scope("model.embed_audio");
  x = b.ours("RMSNormalization", {x}, {attribute("axis", int64_t{-1})});
  return linear(b, x, {"embedding_projection", part.out, text_size});
}

}  // namespace kcharter
