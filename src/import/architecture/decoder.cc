#include "import/architecture/decoder.h"

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

constexpr int64_t kMostLayers = 20'000;

ValueId add_residual(GraphBuilder& builder, ValueId hidden, ValueId change, double factor) {
  return builder.op("Add", {hidden, scale(builder, change, factor)});
}

ValueId last_token(GraphBuilder& builder, ValueId hidden) {
  return builder.decode() ? hidden : builder.ours("LastToken", {hidden});
}

}  // namespace

namespace {

ValueId run_blocks(GraphBuilder& builder, const Stack& stack, const Layer& layer, ValueId hidden,
                   int64_t index) {
  auto norm = [&](ValueId x, const std::string& name) {
    return normalize(builder, x, name, stack.hidden_size, stack.norm);
  };
  if (layer.norm_after_sum) {
    ValueId sum = builder.op("Add", {hidden, layer.mixer(builder, hidden, index)});
    hidden = norm(sum, layer.mixer_norm);
    if (layer.cross) {
      sum = builder.op("Add", {hidden, layer.cross(builder, hidden, index)});
      hidden = norm(sum, layer.cross_norm);
    }
    sum = builder.op("Add", {hidden, layer.feed_forward(builder, hidden, index)});
    return norm(sum, layer.feed_forward_norm);
  }
  if (!layer.mixer) {
    if (!layer.feed_forward) return hidden;
    ValueId fed = layer.feed_forward(builder, norm(hidden, layer.feed_forward_norm), index);
    return add_residual(builder, hidden, norm(fed, layer.after_feed_forward_norm), layer.residual_scale);
  }
  ValueId normal = norm(hidden, layer.mixer_norm);
  ValueId mixed = norm(layer.mixer(builder, normal, index), layer.after_mixer_norm);
  if (layer.parallel) {
    ValueId second = layer.feed_forward_norm.empty() ? normal : norm(hidden, layer.feed_forward_norm);
    ValueId fed = norm(layer.feed_forward(builder, second, index), layer.after_feed_forward_norm);
    return builder.op("Add", {builder.op("Add", {hidden, mixed}), fed});
  }
  hidden = add_residual(builder, hidden, mixed, layer.residual_scale);
  if (layer.cross) {
    ValueId crossed = layer.cross(builder, norm(hidden, layer.cross_norm), index);
    hidden = add_residual(builder, hidden, crossed, layer.residual_scale);
  }
  if (!layer.feed_forward) return hidden;
  ValueId fed = layer.feed_forward(builder, norm(hidden, layer.feed_forward_norm), index);
  return add_residual(builder, hidden, norm(fed, layer.after_feed_forward_norm),
                      layer.residual_scale);
}

}  // namespace

ValueId build_layer(GraphBuilder& builder, const Stack& stack, const Layer& layer, ValueId hidden,
                    int64_t index) {
  auto scope = builder.scope(stack.layer_list, index, layer.class_name);
  hidden = run_blocks(builder, stack, layer, hidden, index);
  return layer.finish ? layer.finish(builder, hidden, index) : hidden;
}

ValueId build_layers(GraphBuilder& builder, const Stack& stack, ValueId hidden) {
  int64_t index = 0;
  for (const Layer& layer : stack.layers) {
    hidden = build_layer(builder, stack, layer, hidden, index++);
  }
  return hidden;
}

ValueId build_head(GraphBuilder& builder, const Decoder& decoder, ValueId hidden,
                   const std::vector<ValueId>& table) {
  if (decoder.head.empty()) return hidden;
  int64_t width = decoder.embedding_size == 0 ? decoder.hidden_size : decoder.embedding_size;
  Linear shape{decoder.head, width, decoder.vocab_size, decoder.head_bias};
  ValueId logits = decoder.tied ? tied_linear(builder, hidden, shape, table) : linear(builder, hidden, shape);
  auto head = builder.scope(decoder.head);
  logits = scale(builder, logits, decoder.logit_scale);
  if (decoder.logit_softcap == 0) return logits;
  logits = builder.op("Tanh", {scale(builder, logits, 1 / decoder.logit_softcap)});
  return scale(builder, logits, decoder.logit_softcap);
}

void build(GraphBuilder& builder, const Decoder& decoder) {
  Shape ids_shape = {builder.batch(), builder.tokens()};
  ValueId ids = builder.input("input_ids", DType::kInt64, ids_shape);
  int64_t width = decoder.embedding_size == 0 ? decoder.hidden_size : decoder.embedding_size;
  Embedded embedded;
  ValueId hidden;
  {
    auto model = builder.scope(decoder.model, decoder.model_class);
    embedded = embed(builder, decoder.embedding, decoder.vocab_size, width, ids);
    hidden = scale(builder, embedded.rows, decoder.embedding_scale);
    hidden = normalize(builder, hidden, decoder.embedding_norm, width, decoder.norm);
    if (width != decoder.hidden_size) {
      hidden = linear(builder, hidden, {decoder.project_in, width, decoder.hidden_size});
    }
    if (!decoder.positions.empty()) {
      ValueId positions = builder.input("position_ids", DType::kInt64, ids_shape);
      hidden = builder.op("Add", {hidden, embed(builder, decoder.positions, decoder.position_rows,
                                                decoder.hidden_size, positions).rows});
    }
    if (decoder.before_layers) hidden = decoder.before_layers(builder, decoder, ids, hidden);
    hidden = build_layers(builder, decoder, hidden);
    if (!decoder.head.empty()) hidden = last_token(builder, hidden);
    hidden = normalize(builder, hidden, decoder.final_norm, decoder.hidden_size, decoder.norm);
    if (width != decoder.hidden_size) {
      hidden = linear(builder, hidden, {decoder.project_out, decoder.hidden_size, width});
    }
  }
  builder.output(build_head(builder, decoder, hidden, embedded.table));
}

int64_t layers_of(const ModelConfig& config) {
  int64_t layers = config.require("num_hidden_layers");
  if (layers > kMostLayers) {
    throw Error("'num_hidden_layers' is " + std::to_string(layers) + ": more than " +
                std::to_string(kMostLayers));
  }
  return layers;
}

Norm rms_norm_of(const ModelConfig& config) {
  return {.kind = NormKind::kRms, .epsilon = config.number("rms_norm_eps", 1e-6)};
}

Norm layer_norm_of(const ModelConfig& config) {
  double epsilon = 1e-5;
  for (const char* name : {"layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps", "layernorm_epsilon"}) {
    epsilon = config.number(name, epsilon);
  }
  return {.kind = NormKind::kLayer, .epsilon = epsilon};
}

void use_in_all_layers(Stack& stack, const Block& mixer, const Block& feed_forward) {
  for (Layer& layer : stack.layers) {
    layer.mixer = mixer;
    layer.feed_forward = feed_forward;
  }
}

void use_in_all_layers(Stack& stack, Attention attention, const Block& feed_forward,
                       const std::vector<std::optional<int64_t>>& windows) {
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    attention.window = i < windows.size() ? windows[i] : std::nullopt;
    stack.layers[i].mixer = attention;
    stack.layers[i].feed_forward = feed_forward;
  }
}

Attention attention_of(const ModelConfig& config) {
  Attention part;
  part.hidden_size = config.require("hidden_size");
  part.heads = config.require("num_attention_heads");
  if (part.heads == 0) throw Error("'num_attention_heads' is 0");
  part.kv_heads = config.integer("num_key_value_heads", part.heads);
  part.head_dim = config.integer("head_dim", part.hidden_size / part.heads);
  part.norm = rms_norm_of(config);
  double share = config.number("partial_rotary_factor", config.number("rotary_pct", 1));
  if (share != 1) part.rotary_dim = static_cast<int64_t>(static_cast<double>(part.head_dim) * share);
  return part;
}

FeedForward feed_forward_of(const ModelConfig& config) {
  FeedForward part;
  part.hidden_size = config.require("hidden_size");
  part.intermediate_size = config.require("intermediate_size");
  part.activation = config.text("hidden_act", "silu");
  return part;
}

Decoder decoder_of(const ModelConfig& config) {
  Decoder decoder;
  decoder.vocab_size = config.require("vocab_size");
  decoder.hidden_size = config.require("hidden_size");
  decoder.norm = rms_norm_of(config);
  decoder.tied = config.flag("tie_word_embeddings", false);
  Layer layer;
  layer.mixer = attention_of(config);
  // Families of experts alone give no size of a plain block.
  if (config.integer("intermediate_size")) layer.feed_forward = feed_forward_of(config);
  decoder.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  return decoder;
}

std::vector<std::optional<int64_t>> windows_of(const ModelConfig& config, int64_t period,
                                               std::optional<int64_t> size) {
  size_t layers = static_cast<size_t>(layers_of(config));
  std::vector<std::optional<int64_t>> windows(layers);
  std::optional<int64_t> window = config.mentions("sliding_window") ? config.integer("sliding_window") : size;
  if (!window || *window <= 0) return windows;
  std::vector<std::string> types = config.texts("layer_types");
  for (size_t i = 0; i < layers; ++i) {
    bool windowed = i < types.size() ? types[i] == "sliding_attention"
                                     : period == 1 || (period > 1 && (static_cast<int64_t>(i) + 1) % period != 0);
    if (windowed) windows[i] = window;
  }
  return windows;
}

}  // namespace kcharter
