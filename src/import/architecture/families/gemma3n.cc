// Gemma 3n, text: four streams predicted and corrected around each layer (AltUp), a low-rank branch beside
// attention (Laurel), embeddings of each layer, later layers that use the keys of earlier ones.
#include <cmath>

#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"
#include "import/architecture/recurrent.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr const char* kActivation = "gelu_pytorch_tanh";

struct Sizes {
  int64_t hidden = 0, streams = 4, per_layer = 256, per_layer_vocab = 0, laurel = 64, layers = 0;
  Norm norm;
};

struct Shared {
  ValueId per_layer;  // [B, S, layers · per_layer]
};

// The low-rank branch, a residual of its own.
ValueId laurel(GraphBuilder& b, ValueId x, const Sizes& sizes) {
  auto scope = b.scope("laurel");
  ValueId y = linear(b, x, {"linear_left", sizes.hidden, sizes.laurel});
  y = linear(b, y, {"linear_right", sizes.laurel, sizes.hidden});
  return b.op("Add", {x, normalize(b, y, "post_laurel_norm", sizes.hidden, sizes.norm)});
}

// Weights of the streams from the active one; used before and after the blocks.
struct Router {
  ValueId norm, weight;
  static Router declare(GraphBuilder& b, const Sizes& sizes) {
    Router router;
    {
      auto scope = b.scope("router_norm");
      router.norm = b.parameter("weight", {sizes.hidden});
    }
    auto scope = b.scope("modality_router");
    router.weight = b.parameter("weight", {sizes.streams, sizes.hidden}, {sizes.hidden, sizes.streams});
    return router;
  }
  ValueId operator()(GraphBuilder& b, ValueId active) const {
    ValueId y = b.op("RMSNormalization", {active, norm}, {attribute("axis", int64_t{-1})});
    return activate(b, b.op("MatMul", {y, weight}), "tanh");
  }
};

// Attention, Laurel and the feed-forward block on one stream.
ValueId run_blocks(GraphBuilder& b, ValueId x, const Attention& attention, const FeedForward& feed_forward,
                   const Sizes& sizes, int64_t layer) {
  ValueId normal = normalize(b, x, "input_layernorm", sizes.hidden, sizes.norm);
  ValueId low = laurel(b, normal, sizes);
  ValueId y = normalize(b, attention(b, normal, layer), "post_attention_layernorm", sizes.hidden, sizes.norm);
  y = scale(b, b.op("Add", {b.op("Add", {x, y}), low}), std::sqrt(0.5));
  ValueId fed = feed_forward(b, normalize(b, y, "pre_feedforward_layernorm", sizes.hidden, sizes.norm), layer);
  return b.op("Add", {y, normalize(b, fed, "post_feedforward_layernorm", sizes.hidden, sizes.norm)});
}

// The layer's own embedding joins through a gate.
ValueId join_per_layer(GraphBuilder& b, ValueId x, const Sizes& sizes, const Shared& shared, int64_t layer) {
  ValueId gate = activate(b, linear(b, x, {"per_layer_input_gate", sizes.hidden, sizes.per_layer}), kActivation);
  ValueId own = b.ours("SliceLayer", {shared.per_layer},
                       {attribute("index", layer), attribute("size", sizes.per_layer), attribute("count", sizes.layers)});
  ValueId y = linear(b, b.op("Mul", {gate, own}), {"per_layer_projection", sizes.per_layer, sizes.hidden});
  return normalize(b, y, "post_per_layer_input_norm", sizes.hidden, sizes.norm);
}

// x: all streams beside each other, [B, S, streams · hidden]; the first is the active one.
ValueId build_gemma3n_layer(GraphBuilder& b, ValueId x, const Attention& attention, const FeedForward& feed_forward,
                            const Sizes& sizes, const Shared& shared, int64_t layer) {
  auto scope = b.scope("layers", layer);
  int64_t streams = sizes.streams;
  auto stream_attribute = attribute("count", streams);
  std::vector<int64_t> each(static_cast<size_t>(streams), sizes.hidden);
  ValueId predicted;
  Router router;
  {
    auto altup = b.scope("altup");
    router = Router::declare(b, sizes);
    ValueId active = b.split(x, each)[0];
    ValueId weights = linear(b, router(b, active), {"prediction_coefs", streams, streams * streams});
    predicted = b.ours("SpreadStreams", {x, active, weights}, {stream_attribute});
  }
  ValueId active = run_blocks(b, b.split(predicted, each)[0], attention, feed_forward, sizes, layer);
  {
    auto altup = b.scope("altup");
    ValueId weights = linear(b, router(b, active), {"correction_coefs", streams, streams});
    x = b.ours("SpreadStreams", {predicted, active, weights}, {attribute("count", int64_t{0})});
    active = b.op("Mul", {b.split(x, each)[0], b.parameter("correct_output_scale", {sizes.hidden})});
  }
  ValueId own = join_per_layer(b, active, sizes, shared, layer);
  return b.ours("SpreadStreams", {x, own}, {attribute("count", int64_t{0})});
}

ValueId embed_per_layer(GraphBuilder& b, const Sizes& sizes, ValueId ids, ValueId hidden) {
  int64_t width = sizes.layers * sizes.per_layer;
  ValueId rows = embed(b, "embed_tokens_per_layer", sizes.per_layer_vocab, width, ids).rows;
  ValueId projected = linear(b, hidden, {"per_layer_model_projection", sizes.hidden, width});
  projected = normalize_groups(b, projected, "per_layer_projection_norm", sizes.layers, sizes.per_layer, sizes.norm);
  return scale(b, b.op("Add", {rows, projected}), std::sqrt(0.5));
}

// The other streams start as projections of the first, and are averaged at the end.
ValueId spread(GraphBuilder& b, const Sizes& sizes, ValueId hidden) {
  std::vector<ValueId> all = {hidden};
  for (int64_t i = 0; i + 1 < sizes.streams; ++i) {
    auto list = b.scope("altup_projections", i);
    all.push_back(linear(b, hidden, {"", sizes.hidden, sizes.hidden}));
  }
  return b.op("Concat", std::move(all), {attribute("axis", int64_t{-1})});
}

ValueId gather(GraphBuilder& b, const Sizes& sizes, ValueId x) {
  std::vector<ValueId> parts = b.split(x, std::vector<int64_t>(static_cast<size_t>(sizes.streams), sizes.hidden));
  ValueId sum = parts[0];
  for (int64_t i = 0; i + 1 < sizes.streams; ++i) {
    auto list = b.scope("altup_unembed_projections", i);
    sum = b.op("Add", {sum, linear(b, parts[static_cast<size_t>(i) + 1], {"", sizes.hidden, sizes.hidden})});
  }
  return scale(b, sum, 1 / static_cast<double>(sizes.streams));
}

Sizes sizes_of(const ModelConfig& config) {
  Sizes sizes;
  sizes.hidden = config.require("hidden_size");
  sizes.streams = config.integer("altup_num_inputs", 4);
  sizes.per_layer = config.integer("hidden_size_per_layer_input", 256);
  sizes.per_layer_vocab = config.integer("vocab_size_per_layer_input", 262144);
  sizes.laurel = config.integer("laurel_rank", 64);
  sizes.layers = layers_of(config);
  sizes.norm = rms_norm_of(config);
  if (sizes.streams < 1 || sizes.streams > 64) throw Error("'altup_num_inputs' is " + std::to_string(sizes.streams));
  return sizes;
}

struct Plan {
  Sizes sizes;
  std::vector<Attention> attention;
  std::vector<FeedForward> feed_forward;
};

Plan plan_of(const ModelConfig& config) {
  Plan plan;
  plan.sizes = sizes_of(config);
  std::vector<std::optional<int64_t>> windows = windows_of(config, 5, 512);
  std::vector<int64_t> widths = config.integers("intermediate_size");
  int64_t first_shared = plan.sizes.layers - config.integer("num_kv_shared_layers", 15);
  int64_t last_of[2] = {-1, -1};  // the last layer of each kind that keeps keys
  for (int64_t i = 0; i < plan.sizes.layers; ++i) {
    size_t place = static_cast<size_t>(i);
    Attention attention = attention_of(config);
    attention.head_dim = config.integer("head_dim", 256);
    attention.query_key_norm = QueryKeyNorm::kPerHead;
    attention.value_norm = true;
    attention.window = windows[place];
    bool full = !attention.window.has_value();
    if (i < first_shared) last_of[full] = i;
    else if (last_of[full] >= 0) attention.shared_with = last_of[full];
    // The matrices of keys and values are stored with every layer.
    attention.keeps_unused = true;
    plan.attention.push_back(attention);
    FeedForward part;
    part.hidden_size = plan.sizes.hidden;
    part.intermediate_size = place < widths.size() ? widths[place] : config.integer("intermediate_size", 16384);
    part.activation = kActivation;
    plan.feed_forward.push_back(part);
  }
  return plan;
}

Decoder gemma3n_decoder(const ModelConfig& config, const Plan& plan) {
  Decoder decoder;
  decoder.vocab_size = config.integer("vocab_size", 262400);
  decoder.hidden_size = plan.sizes.hidden;
  decoder.norm = plan.sizes.norm;
  decoder.tied = config.flag("tie_word_embeddings", true);
  decoder.embedding_scale = std::sqrt(static_cast<double>(decoder.hidden_size));
  decoder.logit_softcap = config.number("final_logit_softcapping", 30);
  decoder.before_layers = [plan](GraphBuilder& b, const Decoder&, ValueId ids, ValueId hidden) {
    Shared shared{embed_per_layer(b, plan.sizes, ids, hidden)};
    ValueId x = spread(b, plan.sizes, hidden);
    for (size_t i = 0; i < plan.attention.size(); ++i) {
      x = build_gemma3n_layer(b, x, plan.attention[i], plan.feed_forward[i], plan.sizes, shared, static_cast<int64_t>(i));
    }
    return gather(b, plan.sizes, x);
  };
  return decoder;
}

}  // namespace

void build_gemma3n_text(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, gemma3n_decoder(config, plan_of(config)));
}

void build_gemma3n(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.section("text_config");
  Decoder decoder = gemma3n_decoder(text, plan_of(text));
  decoder.model = "model.language_model";
  for (const char* tower : {"vision_config", "audio_config"}) {
    if (!config.has(tower)) continue;
    builder.diagnostics().add(Severity::kWarning, "tower-not-known", tower, "this tower is not charted");
  }
  build(builder, decoder);
}

}  // namespace kcharter
