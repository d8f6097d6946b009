#include "import/architecture/encoder_decoder.h"

#include <cmath>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

Attention side_attention(const EncoderDecoder& model, const SideSizes& side) {
  Attention part;
  part.hidden_size = model.hidden_size;
  part.heads = part.kv_heads = side.heads;
  part.head_dim = model.hidden_size / side.heads;
  part.output = "out_proj";
  part.qkv_bias = part.output_bias = true;
  part.key_bias = model.key_bias;
  part.rotary = false;
  return part;
}

Stack side_stack(const EncoderDecoder& model, bool encoder, ValueId encoded, const Expr& encoded_tokens) {
  const SideSizes& side = encoder ? model.encoder : model.decoder;
  Stack stack;
  stack.hidden_size = model.hidden_size;
  stack.norm = model.norm;
  Attention attention = side_attention(model, side);
  attention.causal = attention.cached = !encoder;
  for (int64_t i = 0; i < side.layers; ++i) {
    Layer layer;
    layer.mixer = encoder && model.encoder_attention ? model.encoder_attention(attention, i) : Block(attention);
    layer.mixer_norm = "self_attn_layer_norm";
    layer.norm_after_sum = !model.norm_before;
    layer.feed_forward_norm = model.feed_forward_norm;
    layer.feed_forward = model.feed_forward ? model.feed_forward(encoder, i) : Block(side_feed_forward(model, encoder));
    if (!encoder) {
      Attention cross = side_attention(model, side);
      cross.name = model.cross;
      cross.causal = false;
      layer.cross_norm = model.cross_norm;
      layer.cross = [=](GraphBuilder& b, ValueId x, int64_t index) {
        return cross_attention(b, x, encoded, cross, encoded_tokens, index);
      };
    }
    stack.layers.push_back(std::move(layer));
  }
  return stack;
}

ValueId run_side(GraphBuilder& builder, const EncoderDecoder& model, const Stack& stack, ValueId x,
                 const Shape& ids_shape, bool encoder) {
  x = scale(builder, x, model.embedding_scale);
  int64_t rows = encoder && model.encoder_position_rows > 0 ? model.encoder_position_rows : model.position_rows;
  if (rows > 0) {
    ValueId positions;
    if (!builder.silent()) {
      positions = builder.input(encoder ? "position_ids" : "decoder_position_ids", DType::kInt64, ids_shape);
    }
    x = builder.op("Add", {x, embed(builder, "embed_positions", rows, model.hidden_size, positions).rows});
  }
  if (model.embedding_norm) x = normalize(builder, x, "layernorm_embedding", model.hidden_size, model.norm);
  x = build_layers(builder, stack, x);
  return x;
}

ValueId rows_of(GraphBuilder& builder, const EncoderDecoder& model, ValueId table, ValueId ids) {
  auto scope = builder.scope("embed_tokens");
  if (builder.silent()) return {};
  ValueId own = builder.alias("weight", table, {model.vocab_size, model.hidden_size});
  return builder.op("Gather", {own, ids}, {attribute("axis", int64_t{0})});
}

}  // namespace

FeedForward side_feed_forward(const EncoderDecoder& model, bool encoder) {
  FeedForward part;
  part.name.clear();
  part.gate.clear();
  part.up = "fc1";
  part.down = "fc2";
  part.up_bias = part.down_bias = true;
  part.hidden_size = model.hidden_size;
  part.intermediate_size = encoder ? model.encoder.intermediate_size : model.decoder.intermediate_size;
  part.activation = model.activation;
  return part;
}

namespace {

// "MarianMTModel" predicts tokens, "MarianModel" does not.
bool is_bare(std::string_view architecture) {
  return architecture.ends_with("Model") && !architecture.ends_with("MTModel");
}

// The encoder and the decoder; gives the hidden state of the decoder and the table of words.
struct Decoded {
  ValueId hidden, table;
};

Decoded run_both(GraphBuilder& builder, const EncoderDecoder& model) {
  Expr encoded_tokens = builder.variable("encoder_sequence_length", "Tokens of the encoder", model.default_encoded_tokens);
  Shape encoder_shape = {builder.batch(), encoded_tokens}, decoder_shape = {builder.batch(), builder.tokens()};
  ValueId table;
  if (model.shared) {
    auto scope = builder.scope(model.model + (model.model.empty() ? "shared" : ".shared"));
    table = builder.parameter("weight", {model.vocab_size, model.hidden_size});
  }
  ValueId encoded;
  {
    std::optional<GraphBuilder::Silence> has_run;
    if (builder.decode()) has_run.emplace(builder);
    auto scope = builder.scope(model.model + (model.model.empty() ? "encoder" : ".encoder"));
    ValueId x;
    Stack stack = side_stack(model, true, {}, encoded_tokens);
    if (model.encoder_input) {
      x = build_layers(builder, stack, model.encoder_input(builder, encoded_tokens));
    } else {
      ValueId ids;
      if (!builder.silent()) ids = builder.input("input_ids", DType::kInt64, encoder_shape);
      x = run_side(builder, model, stack, rows_of(builder, model, table, ids), encoder_shape, true);
    }
    encoded = model.final_norm ? normalize(builder, x, "layer_norm", model.hidden_size, model.norm) : x;
  }
  ValueId x;
  {
    auto scope = builder.scope(model.model + (model.model.empty() ? "decoder" : ".decoder"));
    ValueId ids = builder.input("decoder_input_ids", DType::kInt64, decoder_shape);
    if (!model.shared) {
      Embedded own = embed(builder, "embed_tokens", model.vocab_size, model.hidden_size, ids);
      x = own.rows;
      table = own.table[0];
    } else {
      x = rows_of(builder, model, table, ids);
    }
    x = run_side(builder, model, side_stack(model, false, encoded, encoded_tokens), x, decoder_shape, false);
    if (!builder.decode() && !is_bare(builder.architecture)) x = builder.ours("LastToken", {x});
    if (model.final_norm) x = normalize(builder, x, "layer_norm", model.hidden_size, model.norm);
  }
  return {x, table};
}

}  // namespace

void build(GraphBuilder& builder, const EncoderDecoder& described, const ModelConfig& config) {
  EncoderDecoder model = described;
  if (is_bare(builder.architecture)) model.model.clear();
  Decoded decoded = run_both(builder, model);
  ValueId x = decoded.hidden;
  int64_t size = model.hidden_size;
  if (is_bare(builder.architecture)) return builder.output(x);
  if (builder.architecture.ends_with("ForSequenceClassification")) {
    auto scope = builder.scope("classification_head");
    x = activate(builder, linear(builder, x, {"dense", size, size, true}), "tanh");
    size_t named = config.section("id2label").keys().size();
    int64_t labels = named > 0 ? static_cast<int64_t>(named) : config.integer("num_labels", 3);
    return builder.output(linear(builder, x, {"out_proj", size, labels, true}));
  }
  if (builder.architecture.ends_with("ForQuestionAnswering")) {
    return builder.output(linear(builder, x, {"qa_outputs", size, label_count(config), true}));
  }
  x = tied_linear(builder, x, {model.head, size, model.vocab_size}, {decoded.table});
  if (model.logits_bias) x = builder.op("Add", {x, builder.buffer_value("final_logits_bias", {1, model.vocab_size})});
  builder.output(x);
}

SideSizes side_sizes(const ModelConfig& config, const char* side) {
  std::string name(side);
  SideSizes sizes;
  sizes.layers = config.integer(name + "_layers", 12);
  sizes.heads = config.integer(name + "_attention_heads", 16);
  sizes.intermediate_size = config.integer(name + "_ffn_dim", 4096);
  if (sizes.layers < 0 || sizes.layers > 20'000 || sizes.heads < 1) throw Error("'" + name + "_layers' or heads are out of range");
  return sizes;
}

EncoderDecoder encoder_decoder_of(const ModelConfig& config) {
  EncoderDecoder model;
  model.hidden_size = config.require("hidden_size");
  model.vocab_size = config.require("vocab_size");
  model.encoder = side_sizes(config, "encoder");
  model.decoder = side_sizes(config, "decoder");
  model.norm = {.kind = NormKind::kLayer, .epsilon = 1e-5};
  model.activation = config.text("activation_function", "gelu");
  if (config.flag("scale_embedding", false)) {
    model.embedding_scale = std::sqrt(static_cast<double>(model.hidden_size));
  }
  return model;
}

}  // namespace kcharter
