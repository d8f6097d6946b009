// BLIP-2: an image encoder, learned queries that look at its output, and a language model (OPT,
// T5).
#include "import/architecture/families/encoder_families.h"
#include "import/architecture/families/families.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr const char* kVision =
    R"({"hidden_size": 1408, "intermediate_size": 6144, "num_hidden_layers": 39,
  "num_attention_heads": 16, "image_size": 224, "patch_size": 14, "layer_norm_eps": 1e-6})";
constexpr const char* kQueries =
    R"({"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
  "num_attention_heads": 12, "cross_attention_frequency": 2, "encoder_hidden_size": 1408, "layer_norm_eps": 1e-12})";
constexpr const char* kOpt = R"({"hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
  "num_attention_heads": 12, "vocab_size": 50272, "max_position_embeddings": 2048})";
constexpr const char* kT5 =
    R"({"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "vocab_size": 32128})";

ValueId run_image(GraphBuilder& b, const ModelConfig& vision) {
  auto scope = b.scope("vision_model");
  VisionSizes sizes = vision_sizes_of(vision, "gelu");
  PatchEmbedding patches{.hidden_size = sizes.hidden_size,
                         .image_size = vision.integer("image_size", 224),
                         .patch_size = vision.integer("patch_size", 14)};
  ValueId x = embed_patches(b, patches);
  x = prepend_token(b, x, "embeddings.class_embedding", {1, 1, sizes.hidden_size});
  x = add_table(b, x, "embeddings.position_embedding",
                {1, patches.patches() + 1, sizes.hidden_size});
  Stack stack = vision_stack(sizes);
  for (Layer& layer : stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    attention.fused = "qkv";
    attention.output = "projection";
    attention.qkv_bias = vision.flag("qkv_bias", true);
    layer.mixer = attention;
  }
  return normalize(b, build_layers(b, stack, x), "post_layernorm", sizes.hidden_size, stack.norm);
}

struct Queries {
  int64_t size, inner, heads, seen_size, period, layers;
  std::string activation;
  Norm norm;
};

ValueId attend(GraphBuilder& b, const Queries& part, const char* name, ValueId x, ValueId seen,
               int64_t seen_size) {
  auto scope = b.scope(name);
  ValueId mixed;
  {
    auto inner = b.scope("attention");
    ValueId q = linear(b, x, {"query", part.size, part.size, true});
    ValueId k = linear(b, seen, {"key", seen_size, part.size, true});
    ValueId v = linear(b, seen, {"value", seen_size, part.size, true});
    mixed = attend_to_all(b, q, k, v, part.heads, part.size / part.heads);
  }
  mixed = linear(b, mixed, {"output.dense", part.size, part.size, true});
  return normalize(b, b.op("Add", {x, mixed}), "output.LayerNorm", part.size, part.norm);
}

ValueId run_queries(GraphBuilder& b, const Queries& part, ValueId x, ValueId image) {
  auto scope = b.scope("qformer");
  x = normalize(b, x, "layernorm", part.size, part.norm);
  for (int64_t i = 0; i < part.layers; ++i) {
    auto layer = b.scope("encoder.layer", i);
    x = attend(b, part, "attention", x, x, part.size);
    if (i % part.period == 0) x = attend(b, part, "crossattention", x, image, part.seen_size);
    ValueId fed =
        activate(b, linear(b, x, {"intermediate_query.dense", part.size, part.inner, true}),
                 part.activation);
    fed = linear(b, fed, {"output_query.dense", part.inner, part.size, true});
    x = normalize(b, b.op("Add", {x, fed}), "output_query.LayerNorm", part.size, part.norm);
  }
  return x;
}

Queries queries_of(const ModelConfig& config) {
  Queries part{config.require("hidden_size"),
               config.require("intermediate_size"),
               config.require("num_attention_heads"),
               config.require("encoder_hidden_size"),
               config.require("cross_attention_frequency"),
               layers_of(config),
               config.text("hidden_act", "gelu"),
               {.kind = NormKind::kLayer, .epsilon = config.number("layer_norm_eps", 1e-12)}};
  if (part.heads < 1 || part.period < 1)
    throw Error("'num_attention_heads' or 'cross_attention_frequency' is below 1");
  return part;
}

// The tokens that stand for the image in the text.
ValueId run_tower(GraphBuilder& b, const ModelConfig& config, int64_t text_size) {
  Queries queries =
      queries_of(config.section("qformer_config").with_defaults(ModelConfig::parse(kQueries)));
  ValueId image =
      run_image(b, config.section("vision_config").with_defaults(ModelConfig::parse(kVision)));
  ValueId learned =
      b.parameter("query_tokens", {1, config.integer("num_query_tokens", 32), queries.size});
  ValueId x = b.ours("RepeatTokens", {learned, image});
  x = run_queries(b, queries, x, image);
  return linear(b, x, {"language_projection", queries.size, text_size, true});
}

}  // namespace

void build_blip2(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.section("text_config");
  std::string kind = text.text("model_type", "opt");
  if (kind == "opt") {
    Decoder decoder = opt_decoder(text.with_defaults(ModelConfig::parse(kOpt)));
    decoder.model = "language_model.model.decoder";
    decoder.head = "language_model.lm_head";
    add_tower(builder, decoder,
              [&](GraphBuilder& b) { return run_tower(b, config, decoder.hidden_size); });
    return build(builder, decoder);
  }
  if (kind != "t5") throw Error("text model '" + kind + "' inside BLIP-2 is not known");
  text = text.with_defaults(ModelConfig::parse(kT5));
  ValueId image;
  {
    std::optional<GraphBuilder::Silence> has_run;
    if (builder.decode()) has_run.emplace(builder);
    image = run_tower(builder, config, text.require("hidden_size"));
  }
  builder.expect(
      "encoder_sequence_length counts the image's tokens too; the tower runs in prefill only");
  auto scope = builder.scope("language_model");
  build_t5_reading(builder, text, image);
}

}  // namespace kcharter
