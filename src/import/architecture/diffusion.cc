#include "import/architecture/diffusion.h"

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr int64_t kPixelsOfLatent = 8;  // each way, in the autoencoders these networks work with
constexpr int64_t kPixelsOfPatch = 16;

}  // namespace

ValueId latent_input(GraphBuilder& b, int64_t channels, int64_t image_size) {
  if (b.silent()) return {};
  ImageSize free = free_image_size(b, image_size);
  return b.input("sample", b.activation_dtype(),
                 {b.batch(), Expr(channels), floor_div(free.height, Expr(kPixelsOfLatent)),
                  floor_div(free.width, Expr(kPixelsOfLatent))});
}

ValueId latent_tokens_input(GraphBuilder& b, int64_t width, int64_t image_size) {
  ImageSize free = free_image_size(b, image_size);
  Expr patches =
      floor_div(free.height, Expr(kPixelsOfPatch)) * floor_div(free.width, Expr(kPixelsOfPatch));
  return b.input("hidden_states", b.activation_dtype(), {b.batch(), patches, Expr(width)});
}

ValueId text_input(GraphBuilder& b, int64_t width, int64_t tokens) {
  Expr length = b.variable("text_sequence_length", "Tokens of the text", tokens);
  return b.input("encoder_hidden_states", b.activation_dtype(), {b.batch(), length, Expr(width)});
}

ValueId embed_vector(GraphBuilder& b, ValueId x, std::string_view name, int64_t in, int64_t size,
                     bool bias) {
  auto scope = b.scope(name);
  x = activate(b, linear(b, x, {"linear_1", in, size, bias}), "silu");
  return linear(b, x, {"linear_2", size, size, bias});
}

ValueId embed_timestep(GraphBuilder& b, std::string_view input, std::string_view name, int64_t in,
                       int64_t size, bool bias) {
  ValueId step = b.input(input, b.activation_dtype(), {b.batch()});
  return embed_vector(b, b.ours("TimestepEmbedding", {step}, {attribute("size", in)}), name, in,
                      size, bias);
}

std::vector<ValueId> modulations(GraphBuilder& b, ValueId step, std::string_view name, int64_t size,
                                 int64_t count, bool bias) {
  auto scope = b.scope(name);
  ValueId all = linear(b, activate(b, step, "silu"), {"", size, count * size, bias});
  return b.split(all, std::vector<int64_t>(static_cast<size_t>(count), size));
}

ValueId modulated_norm(GraphBuilder& b, ValueId x, ValueId shift, ValueId scale) {
  ValueId normal = b.ours("LayerNormalization", {x}, {attribute("axis", int64_t{-1})});
  ValueId scaled = b.op("Add", {normal, b.op("Mul", {normal, scale})});
  return b.op("Add", {scaled, shift});
}

ValueId add_gated(GraphBuilder& b, ValueId x, ValueId gate, ValueId change) {
  return b.op("Add", {x, b.op("Mul", {change, gate})});
}

ValueId diffusion_feed_forward(GraphBuilder& b, ValueId x, std::string_view name, int64_t size,
                               int64_t inner, std::string_view activation) {
  auto scope = b.scope(name);
  bool gated = activation == "geglu" || activation == "swiglu";
  x = linear(b, x, {"net.0.proj", size, gated ? 2 * inner : inner, true});
  if (gated) {
    std::vector<ValueId> halves = b.split(x, {inner, inner});
    x = b.op("Mul", {halves[0], activate(b, halves[1], activation == "geglu" ? "gelu" : "silu")});
  } else if (activation == "gelu-approximate") {
    x = activate(b, x, "gelu_tanh");
  } else {
    x = activate(b, x, activation);
  }
  return linear(b, x, {"net.2", inner, size, true});
}

ValueId run_residual(GraphBuilder& b, ValueId grid, ValueId step, const ResidualGrid& part) {
  ValueId x =
      activate(b, normalize_grid(b, grid, "norm1", part.in, part.groups, part.epsilon), "silu");
  x = convolve(b, x, {.name = "conv1", .in = part.in, .out = part.out, .kernel = 3, .padding = 1});
  std::vector<ValueId> vectors;
  if (part.step_size > 0) {
    int64_t count = part.scale_shift ? 2 : 1;
    ValueId own = linear(b, activate(b, step, "silu"),
                         {"time_emb_proj", part.step_size, count * part.out, true});
    for (ValueId vector :
         b.split(own, std::vector<int64_t>(static_cast<size_t>(count), part.out))) {
      vectors.push_back(b.ours("Reshape", {vector},
                               {attribute("shape", std::vector<int64_t>{0, part.out, 1, 1})}));
    }
  }
  if (vectors.size() == 1) x = b.op("Add", {x, vectors[0]});
  x = normalize_grid(b, x, "norm2", part.out, part.groups, part.epsilon);
  if (vectors.size() == 2)
    x = b.op("Add", {b.op("Add", {x, b.op("Mul", {x, vectors[0]})}), vectors[1]});
  x = convolve(b, activate(b, x, "silu"),
               {.name = "conv2", .in = part.out, .out = part.out, .kernel = 3, .padding = 1});
  ValueId kept = part.in == part.out
                     ? grid
                     : convolve(b, grid, {.name = "conv_shortcut", .in = part.in, .out = part.out});
  return b.op("Add", {kept, x});
}

}  // namespace kcharter
