#include "import/architecture/joint_transformer.h"

#include "import/architecture/attention.h"

namespace kcharter {
namespace {

struct Projected {
  ValueId query, key, value;
};

Projected project(GraphBuilder& b, const JointBlock& part, ValueId x, const char* query,
                  const char* key, const char* value) {
  int64_t width = part.heads * part.head_dim;
  return {linear(b, x, {query, part.size, width, part.bias}),
          linear(b, x, {key, part.size, width, part.bias}),
          linear(b, x, {value, part.size, width, part.bias})};
}

Heads heads_of(const JointBlock& part) {
  return {part.heads, part.head_dim, part.query_key_norm, part.rotary};
}

Streams attend_jointly(GraphBuilder& b, const JointBlock& part, Streams x) {
  auto scope = b.scope("attn");
  Heads heads = heads_of(part);
  Projected image = project(b, part, x.image, "to_q", "to_k", "to_v");
  Projected text = project(b, part, x.text, "add_q_proj", "add_k_proj", "add_v_proj");
  auto both = [&](ValueId first, ValueId second) {
    return b.op("Concat", {first, second}, {attribute("axis", int64_t{1})});
  };
  ValueId q = both(normalize_each_head(b, text.query, "norm_added_q", heads),
                   normalize_each_head(b, image.query, "norm_q", heads));
  ValueId k = both(normalize_each_head(b, text.key, "norm_added_k", heads),
                   normalize_each_head(b, image.key, "norm_k", heads));
  ValueId mixed = attend_rotated(b, q, k, both(text.value, image.value), heads);
  int64_t width = part.heads * part.head_dim;
  ValueId of_image = b.ours("TokensLike", {mixed, x.image}, {attribute("last", int64_t{1})});
  Streams result{linear(b, of_image, {"to_out.0", width, part.size, part.bias}), {}};
  if (!part.last)
    result.text = linear(b, b.ours("TokensLike", {mixed, x.text}),
                         {"to_add_out", width, part.size, part.bias});
  return result;
}

ValueId attend_alone(GraphBuilder& b, const JointBlock& part, ValueId x) {
  auto scope = b.scope("attn2");
  Heads heads = heads_of(part);
  Projected all = project(b, part, x, "to_q", "to_k", "to_v");
  ValueId q = normalize_each_head(b, all.query, "norm_q", heads),
          k = normalize_each_head(b, all.key, "norm_k", heads);
  return linear(b, attend_rotated(b, q, k, all.value, heads),
                {"to_out.0", part.heads * part.head_dim, part.size, part.bias});
}

ValueId feed_forward(GraphBuilder& b, const JointBlock& part, ValueId x, const std::string& name) {
  if (!part.gated)
    return diffusion_feed_forward(b, x, name, part.size, part.inner, "gelu-approximate");
  FeedForward gated;
  gated.name = name;
  gated.up = "linear_in";
  gated.down = "linear_out";
  gated.fused = true;
  gated.hidden_size = part.size;
  gated.intermediate_size = part.inner;
  return gated(b, x, 0);
}

// Shift, scale, gate of the attention, then of the feed-forward block.
ValueId finish_stream(GraphBuilder& b, const JointBlock& part, ValueId x,
                      const std::vector<ValueId>& vectors, const std::string& name) {
  return add_gated(b, x, vectors[5],
                   feed_forward(b, part, modulated_norm(b, x, vectors[3], vectors[4]), name));
}

}  // namespace

ValueId normalize_each_head(GraphBuilder& b, ValueId x, std::string_view name, const Heads& part) {
  if (!part.norm) return x;
  x = b.reshape(x, {0, 0, part.heads, part.head_dim});
  x = normalize(b, x, name, part.head_dim, {.kind = NormKind::kRms});
  return b.reshape(x, {0, 0, part.heads * part.head_dim});
}

ValueId attend_rotated(GraphBuilder& b, ValueId query, ValueId key, ValueId value,
                       const Heads& part) {
  auto rotated = [&](ValueId x) {
    if (!part.rotary) return x;
    return b.ours("RotaryEmbedding", {x},
                  {attribute("num_heads", part.heads), attribute("head_dim", part.head_dim),
                   attribute("rotary_dim", part.head_dim)});
  };
  return attend_to_all(b, rotated(query), rotated(key), value, part.heads, part.head_dim);
}

Streams run_joint_block(GraphBuilder& b, const JointBlock& part, Streams x, ValueId step) {
  std::vector<ValueId> image = part.image_vectors, text = part.text_vectors;
  if (image.empty())
    image = modulations(b, step, part.image_modulation, part.size, part.dual ? 9 : 6);
  if (text.empty()) text = modulations(b, step, part.text_modulation, part.size, part.last ? 2 : 6);
  // The last block's norm gives the scale first.
  ValueId of_text = part.last ? modulated_norm(b, x.text, text[1], text[0])
                              : modulated_norm(b, x.text, text[0], text[1]);
  Streams mixed =
      attend_jointly(b, part, {modulated_norm(b, x.image, image[0], image[1]), of_text});
  ValueId second = part.dual ? modulated_norm(b, x.image, image[6], image[7]) : ValueId();
  x.image = add_gated(b, x.image, image[2], mixed.image);
  if (part.dual) x.image = add_gated(b, x.image, image[8], attend_alone(b, part, second));
  x.image = finish_stream(b, part, x.image, image, part.image_feed_forward);
  if (part.last) return x;
  x.text = add_gated(b, x.text, text[2], mixed.text);
  x.text = finish_stream(b, part, x.text, text, part.text_feed_forward);
  return x;
}

ValueId finish_patches(GraphBuilder& b, ValueId x, ValueId step, int64_t size, int64_t out,
                       bool bias) {
  std::vector<ValueId> vectors = modulations(b, step, "norm_out.linear", size, 2, bias);
  return linear(b, modulated_norm(b, x, vectors[1], vectors[0]), {"proj_out", size, out, bias});
}

}  // namespace kcharter
