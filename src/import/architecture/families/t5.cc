// T5, mT5, UMT5, FLAN-T5 and Switch: relative positions in the first layer, RMS norms, no biases.
#include <cmath>

#include "import/architecture/families/encoder_families.h"
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

struct T5 {
  int64_t hidden_size, vocab_size, heads, head_dim, intermediate_size, buckets;
  bool gated;
  std::string activation;
  Norm norm;
};

T5 t5_of(const ModelConfig& config) {
  T5 t;
  t.hidden_size = config.require("hidden_size");
  t.vocab_size = config.require("vocab_size");
  t.heads = config.require("num_attention_heads");
  t.head_dim = config.integer("d_kv", 64);
  t.intermediate_size = config.require("intermediate_size");
  t.buckets = config.integer("relative_attention_num_buckets", 32);
  std::string kind = config.text("feed_forward_proj", "relu");
  t.gated = kind.starts_with("gated-");
  t.activation = t.gated ? kind.substr(6) : kind;
  if (kind == "gated-gelu") t.activation = "gelu_new";
  t.norm = {.kind = NormKind::kRms, .epsilon = config.number("layer_norm_epsilon", 1e-6)};
  return t;
}

Attention attention_at(const T5& t, const std::string& name, bool decoder, bool first) {
  Attention part;
  part.name = name;
  part.hidden_size = t.hidden_size;
  part.heads = part.kv_heads = t.heads;
  part.head_dim = t.head_dim;
  part.query = "q", part.key = "k", part.value = "v", part.output = "o";
  part.rotary = false;
  part.causal = part.cached = decoder;
  part.sinks = first;
  part.sinks_name = "relative_attention_bias.weight";
  part.sinks_dims = {t.buckets, t.heads};
  return part;
}

// "layer.2.DenseReluDense": the last of a block's layers.
Block feed_forward_at(const T5& t, const ModelConfig& config, const std::string& layer, bool decoder, int64_t index) {
  FeedForward part;
  part.name = layer + (config.has("num_experts") ? ".mlp" : ".DenseReluDense");
  part.gate = t.gated ? "wi_0" : "";
  part.up = t.gated ? "wi_1" : "wi";
  part.down = "wo";
  part.hidden_size = t.hidden_size;
  part.intermediate_size = t.intermediate_size;
  part.activation = t.activation;
  if (!config.has("num_experts")) return part;
  int64_t layers = config.integer(decoder ? "num_decoder_layers" : "num_layers", 12);
  int64_t sparse = config.integer(decoder ? "num_sparse_decoder_layers" : "num_sparse_encoder_layers", 3);
  int64_t step = config.integer(decoder ? "decoder_sparse_step" : "encoder_sparse_step", sparse > 0 ? layers / sparse : layers);
  if (sparse <= 0 || step <= 0 || !(index % step == 1 || step == 1)) return part;
  MixtureOfExperts experts;
  experts.name = part.name;
  experts.hidden_size = t.hidden_size;
  experts.intermediate_size = t.intermediate_size;
  experts.experts = config.require("num_experts");
  experts.chosen = 1;
  experts.router = "router.classifier";
  experts.expert_prefix = "expert_";
  experts.gate.clear();
  experts.up = "wi";
  experts.down = "wo";
  experts.activation = "relu";
  return experts;
}

Stack stack_of(const T5& t, const ModelConfig& config, bool decoder, int64_t layers, ValueId encoded, const Expr& tokens) {
  Stack stack;
  stack.layer_list = "block";
  stack.hidden_size = t.hidden_size;
  stack.norm = t.norm;
  bool everywhere = config.text("model_type") == "umt5";
  for (int64_t i = 0; i < layers; ++i) {
    Layer layer;
    layer.mixer = attention_at(t, "layer.0.SelfAttention", decoder, i == 0 || everywhere);
    layer.mixer_norm = "layer.0.layer_norm";
    std::string last = decoder ? "layer.2" : "layer.1";
    layer.feed_forward = feed_forward_at(t, config, last, decoder, i);
    layer.feed_forward_norm = last + ".layer_norm";
    if (decoder) {
      Attention cross = attention_at(t, "layer.1.EncDecAttention", true, false);
      cross.causal = false;
      layer.cross_norm = "layer.1.layer_norm";
      layer.cross = [=](GraphBuilder& b, ValueId x, int64_t index) {
        return cross_attention(b, x, encoded, cross, tokens, index);
      };
    }
    stack.layers.push_back(std::move(layer));
  }
  return stack;
}

ValueId run_stack(GraphBuilder& b, const T5& t, const Stack& stack, const char* name, ValueId table, const char* input,
                  const Shape& shape, ValueId image = {}) {
  auto scope = b.scope(name);
  ValueId x;
  if (!b.silent()) {
    ValueId ids = b.input(input, DType::kInt64, shape);
    ValueId own = b.alias("embed_tokens.weight", table, {t.vocab_size, t.hidden_size});
    x = b.op("Gather", {own, ids}, {attribute("axis", int64_t{0})});
    if (image) x = b.ours("MergeTokens", {x, image});
  }
  x = build_layers(b, stack, x);
  return normalize(b, x, "final_layer_norm", t.hidden_size, t.norm);
}

ValueId shared_table(GraphBuilder& b, const T5& t) {
  auto scope = b.scope("shared");
  return b.parameter("weight", {t.vocab_size, t.hidden_size});
}

}  // namespace

void build_t5_encoder(GraphBuilder& builder, const ModelConfig& config) {
  T5 t = t5_of(config);
  ValueId table = shared_table(builder, t);
  Stack stack = stack_of(t, config, false, layers_of(config), {}, Expr(0));
  builder.output(run_stack(builder, t, stack, "encoder", table, "input_ids", {builder.batch(), builder.tokens()}));
}

void build_t5(GraphBuilder& builder, const ModelConfig& config) { build_t5_reading(builder, config, {}); }

void build_t5_reading(GraphBuilder& builder, const ModelConfig& config, ValueId image) {
  T5 t = t5_of(config);
  Expr encoded_tokens = builder.variable("encoder_sequence_length", "Tokens of the encoder", 512);
  ValueId table = shared_table(builder, t);
  ValueId encoded;
  int64_t layers = layers_of(config);
  {
    std::optional<GraphBuilder::Silence> has_run;
    if (builder.decode()) has_run.emplace(builder);
    Stack stack = stack_of(t, config, false, layers, {}, encoded_tokens);
    encoded = run_stack(builder, t, stack, "encoder", table, "input_ids", {builder.batch(), encoded_tokens}, image);
  }
  Stack stack = stack_of(t, config, true, config.integer("num_decoder_layers", layers), encoded, encoded_tokens);
  ValueId x = run_stack(builder, t, stack, "decoder", table, "decoder_input_ids", {builder.batch(), builder.tokens()});
  if (builder.architecture.ends_with("Model")) return builder.output(x);
  if (!builder.decode()) x = builder.ours("LastToken", {x});
  Linear head{"lm_head", t.hidden_size, t.vocab_size};
  if (config.flag("tie_word_embeddings", true)) {
    x = scale(builder, x, 1 / std::sqrt(static_cast<double>(t.hidden_size)));
    builder.output(tied_linear(builder, x, head, {table}));
  } else {
    builder.output(linear(builder, x, head));
  }
}

}  // namespace kcharter
