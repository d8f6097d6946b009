#include "import/architecture/text_encoder.h"

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Encoded {
  ValueId hidden, words;  // words: the embedding's table
};

ValueId ids_input(GraphBuilder& b, const char* name) {
  return b.input(name, DType::kInt64, {b.batch(), b.tokens()});
}

Encoded run(GraphBuilder& b, const TextEncoder& part, const std::string& prefix) {
  auto scope = b.scope(prefix);
  Encoded result;
  {
    auto embeddings = b.scope("embeddings");
    Embedded words = embed(b, "word_embeddings", part.vocab_size, part.embedding_size,
                           ids_input(b, "input_ids"));
    result.words = words.table[0];
    ValueId x = words.rows;
    if (part.position_embeddings) {
      x = b.op("Add", {x, embed(b, "position_embeddings", part.positions, part.embedding_size,
                                ids_input(b, "position_ids"))
                              .rows});
    }
    if (part.types > 0) {
      x = b.op("Add", {x, embed(b, "token_type_embeddings", part.types, part.embedding_size,
                                ids_input(b, "token_type_ids"))
                              .rows});
    }
    result.hidden =
        part.embedding_norm ? normalize(b, x, "LayerNorm", part.embedding_size, part.norm) : x;
  }
  if (part.embedding_size != part.hidden_size && !part.projection.empty()) {
    result.hidden =
        linear(b, result.hidden, {part.projection, part.embedding_size, part.hidden_size, true});
  }
  result.hidden =
      part.layers ? part.layers(b, result.hidden) : build_layers(b, part.stack, result.hidden);
  return result;
}

// The first token through a dense layer.
ValueId pool(GraphBuilder& b, const TextEncoder& part, ValueId x, const std::string& prefix) {
  auto scope = b.scope(prefix);
  x = linear(b, b.ours("FirstToken", {x}), {part.pooler, part.hidden_size, part.hidden_size, true});
  return activate(b, x, part.heads == HeadStyle::kDeberta ? "gelu" : "tanh");
}

// dense, activation, norm.
ValueId transform(GraphBuilder& b, const TextEncoder& part, ValueId x, const char* dense,
                  const char* norm, int64_t out, std::string_view activation) {
  x = activate(b, linear(b, x, {dense, part.hidden_size, out, true}), activation);
  return normalize(b, x, norm, out, part.norm);
}

ValueId predict_words(GraphBuilder& b, const TextEncoder& part, const Encoded& encoded, bool tied) {
  auto decode = [&](ValueId x, const char* name, int64_t in, bool bias) {
    Linear shape{name, in, part.vocab_size, bias};
    return tied ? tied_linear(b, x, shape, {encoded.words}) : linear(b, x, shape);
  };
  switch (part.heads) {
    case HeadStyle::kDistil: {
      ValueId x = transform(b, part, encoded.hidden, "vocab_transform", "vocab_layer_norm",
                            part.hidden_size, part.activation);
      return decode(x, "vocab_projector", part.hidden_size, true);
    }
    case HeadStyle::kElectra: {
      ValueId x;
      {
        auto scope = b.scope("generator_predictions");
        x = transform(b, part, encoded.hidden, "dense", "LayerNorm", part.embedding_size, "gelu");
      }
      return decode(x, "generator_lm_head", part.embedding_size, true);
    }
    case HeadStyle::kRoberta: {
      auto scope = b.scope("lm_head");
      ValueId x =
          transform(b, part, encoded.hidden, "dense", "layer_norm", part.hidden_size, "gelu");
      x = decode(x, "decoder", part.hidden_size, false);
      return b.op("Add", {x, b.parameter("bias", {part.vocab_size})});
    }
    case HeadStyle::kAlbert: {
      auto scope = b.scope("predictions");
      ValueId x = transform(b, part, encoded.hidden, "dense", "LayerNorm", part.embedding_size,
                            part.activation);
      x = decode(x, "decoder", part.embedding_size, false);
      return b.op("Add", {x, b.parameter("bias", {part.vocab_size})});
    }
    case HeadStyle::kBert:
    case HeadStyle::kDeberta: {
      auto scope = b.scope("cls.predictions");
      ValueId x = transform(b, part, encoded.hidden, "transform.dense", "transform.LayerNorm",
                            part.embedding_size, part.activation);
      {
        // Older files hold the decoder's bias under this name too.
        GraphBuilder::Silence copy(b);
        b.parameter("bias", {part.vocab_size});
      }
      return decode(x, "decoder", part.embedding_size, true);
    }
  }
  throw Error("a head without a style");
}

ValueId classify_sequence(GraphBuilder& b, const TextEncoder& part, ValueId x, int64_t labels) {
  int64_t size = part.hidden_size;
  switch (part.heads) {
    case HeadStyle::kBert:
    case HeadStyle::kAlbert:
      x = pool(b, part, x, part.prefix);
      break;
    case HeadStyle::kDeberta: {
      TextEncoder own = part;
      own.pooler = "pooler.dense";
      x = pool(b, own, x, "");
      break;
    }
    case HeadStyle::kDistil:
      x = activate(b, linear(b, b.ours("FirstToken", {x}), {"pre_classifier", size, size, true}),
                   "relu");
      break;
    case HeadStyle::kRoberta:
    case HeadStyle::kElectra: {
      auto scope = b.scope("classifier");
      const char* activation = part.heads == HeadStyle::kElectra ? "gelu" : "tanh";
      x = activate(b, linear(b, b.ours("FirstToken", {x}), {"dense", size, size, true}),
                   activation);
      return linear(b, x, {"out_proj", size, labels, true});
    }
  }
  return linear(b, x, {"classifier", size, labels, true});
}

ValueId choose(GraphBuilder& b, const TextEncoder& part, ValueId x) {
  if (part.heads == HeadStyle::kDistil || part.heads == HeadStyle::kDeberta)
    return classify_sequence(b, part, x, 1);
  if (part.heads == HeadStyle::kElectra) throw Error("multiple choice on ELECTRA is not known");
  return linear(b, pool(b, part, x, part.prefix), {"classifier", part.hidden_size, 1, true});
}

void pretrain(GraphBuilder& b, const TextEncoder& part, const Encoded& encoded, bool tied) {
  if (part.heads == HeadStyle::kElectra) {  // which tokens were replaced
    auto scope = b.scope("discriminator_predictions");
    ValueId x =
        activate(b, linear(b, encoded.hidden, {"dense", part.hidden_size, part.hidden_size, true}),
                 part.activation);
    return b.output(linear(b, x, {"dense_prediction", part.hidden_size, 1, true}));
  }
  ValueId pooled = pool(b, part, encoded.hidden, part.prefix);
  bool albert = part.heads == HeadStyle::kAlbert;
  b.output(linear(
      b, pooled,
      {albert ? "sop_classifier.classifier" : "cls.seq_relationship", part.hidden_size, 2, true}));
  b.output(predict_words(b, part, encoded, tied));
}

}  // namespace

TextEncoder text_encoder_of(const ModelConfig& config, std::string_view prefix) {
  TextEncoder part;
  part.prefix = prefix;
  part.hidden_size = config.require("hidden_size");
  part.embedding_size = config.integer("embedding_size", part.hidden_size);
  part.vocab_size = config.require("vocab_size");
  part.positions = config.integer("max_position_embeddings", 512);
  part.types = config.integer("type_vocab_size", 2);
  part.activation = config.text("hidden_act", "gelu");
  part.norm = {.kind = NormKind::kLayer, .epsilon = config.number("layer_norm_eps", 1e-12)};
  part.stack.layer_list = "encoder.layer";
  part.stack.hidden_size = part.hidden_size;
  part.stack.norm = part.norm;
  Attention attention = attention_of(config);
  attention.name = "attention";
  attention.query = "self.query", attention.key = "self.key", attention.value = "self.value";
  attention.output = "output.dense";
  attention.qkv_bias = attention.output_bias = true;
  attention.rotary = attention.causal = attention.cached = false;
  FeedForward feed_forward;
  feed_forward.name.clear();
  feed_forward.gate.clear();
  feed_forward.up = "intermediate.dense";
  feed_forward.down = "output.dense";
  feed_forward.up_bias = feed_forward.down_bias = true;
  feed_forward.hidden_size = part.hidden_size;
  feed_forward.intermediate_size = config.integer("intermediate_size", 4 * part.hidden_size);
  feed_forward.activation = part.activation;
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.norm_after_sum = true;
  layer.mixer_norm = "attention.output.LayerNorm";
  layer.feed_forward_norm = "output.LayerNorm";
  part.stack.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  return part;
}

void build(GraphBuilder& b, const TextEncoder& part, const ModelConfig& config) {
  auto stands_on_top = [&](const char* ending) { return b.architecture.ends_with(ending); };
  bool bare = stands_on_top("Model") && !stands_on_top("HeadModel");
  bool tied = config.flag("tie_word_embeddings", true);
  Encoded encoded = run(b, part, bare ? "" : part.prefix);
  ValueId x = encoded.hidden;
  if (bare) return b.output(part.pooler.empty() ? x : pool(b, part, x, ""));
  if (stands_on_top("ForPreTraining")) return pretrain(b, part, encoded, tied);
  if (stands_on_top("ForMaskedLM") || stands_on_top("LMHeadModel"))
    return b.output(predict_words(b, part, encoded, tied));
  if (stands_on_top("ForSequenceClassification"))
    return b.output(classify_sequence(b, part, x, label_count(config)));
  if (stands_on_top("ForTokenClassification")) {
    return b.output(linear(b, x, {"classifier", part.hidden_size, label_count(config), true}));
  }
  if (stands_on_top("ForQuestionAnswering")) {
    return b.output(linear(b, x, {"qa_outputs", part.hidden_size, label_count(config), true}));
  }
  if (stands_on_top("ForMultipleChoice")) return b.output(choose(b, part, x));
  if (stands_on_top("ForNextSentencePrediction")) {
    return b.output(linear(b, pool(b, part, x, part.prefix),
                           {"cls.seq_relationship", part.hidden_size, 2, true}));
  }
  throw Error("what stands on top of the encoder is not known");
}

}  // namespace kcharter
