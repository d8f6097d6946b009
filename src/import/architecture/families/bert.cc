// BERT and the encoders after it: three embeddings summed, norms after each sum, one of several heads.
#include "import/architecture/families/families.h"

namespace kcharter {
namespace {

struct Bert {
  std::string prefix = "bert";
  int64_t hidden_size = 0, embedding_size = 0, vocab_size = 0, positions = 0, types = 2;
  bool position_embeddings = true, embedding_norm = true;
  Stack stack;
  std::string activation;
};

Bert bert_of(const ModelConfig& config, const char* prefix) {
  Bert bert;
  bert.prefix = prefix;
  bert.hidden_size = config.require("hidden_size");
  bert.embedding_size = config.integer("embedding_size", bert.hidden_size);
  bert.vocab_size = config.require("vocab_size");
  bert.positions = config.integer("max_position_embeddings", 512);
  bert.types = config.integer("type_vocab_size", 2);
  bert.activation = config.text("hidden_act", "gelu");
  bert.stack.layer_list = "encoder.layer";
  bert.stack.hidden_size = bert.hidden_size;
  bert.stack.norm = {.kind = NormKind::kLayer, .epsilon = config.number("layer_norm_eps", 1e-12)};
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
  feed_forward.hidden_size = bert.hidden_size;
  feed_forward.intermediate_size = config.integer("intermediate_size", 4 * bert.hidden_size);
  feed_forward.activation = bert.activation;
  Layer layer;
  layer.mixer = attention;
  layer.feed_forward = feed_forward;
  layer.norm_after_sum = true;
  layer.mixer_norm = "attention.output.LayerNorm";
  layer.feed_forward_norm = "output.LayerNorm";
  bert.stack.layers.assign(static_cast<size_t>(layers_of(config)), layer);
  return bert;
}

struct Encoded {
  ValueId hidden, words;  // words: the embedding's table
};

ValueId ids_input(GraphBuilder& b, const char* name) {
  return b.input(name, DType::kInt64, {b.batch(), b.tokens()});
}

Encoded run(GraphBuilder& b, const Bert& bert) {
  auto scope = b.scope(bert.prefix);
  Encoded result;
  {
    auto embeddings = b.scope("embeddings");
    Embedded words = embed(b, "word_embeddings", bert.vocab_size, bert.embedding_size, ids_input(b, "input_ids"));
    result.words = words.table[0];
    ValueId x = words.rows;
    if (bert.position_embeddings) {
      x = b.op("Add", {x, embed(b, "position_embeddings", bert.positions, bert.embedding_size, ids_input(b, "position_ids")).rows});
    }
    if (bert.types > 0) {
      x = b.op("Add", {x, embed(b, "token_type_embeddings", bert.types, bert.embedding_size, ids_input(b, "token_type_ids")).rows});
    }
    result.hidden = bert.embedding_norm ? normalize(b, x, "LayerNorm", bert.embedding_size, bert.stack.norm) : x;
  }
  if (bert.embedding_size != bert.hidden_size) {
    result.hidden = linear(b, result.hidden, {"embeddings_project", bert.embedding_size, bert.hidden_size, true});
  }
  result.hidden = build_layers(b, bert.stack, result.hidden);
  return result;
}

// The first token through a dense layer.
ValueId pool(GraphBuilder& b, const Bert& bert, ValueId x) {
  auto scope = b.scope(bert.prefix);
  ValueId first = b.ours("FirstToken", {x});
  return activate(b, linear(b, first, {"pooler.dense", bert.hidden_size, bert.hidden_size, true}), "tanh");
}

void predict_masked(GraphBuilder& b, const Bert& bert, const Encoded& encoded) {
  auto scope = b.scope("cls.predictions");
  ValueId x = activate(b, linear(b, encoded.hidden, {"transform.dense", bert.hidden_size, bert.embedding_size, true}), bert.activation);
  x = normalize(b, x, "transform.LayerNorm", bert.embedding_size, bert.stack.norm);
  {
    // Older files hold the decoder's bias under this name too.
    GraphBuilder::Silence copy(b);
    b.parameter("bias", {bert.vocab_size});
  }
  b.output(tied_linear(b, x, {"decoder", bert.embedding_size, bert.vocab_size, true}, {encoded.words}));
}

// RoBERTa's and Longformer's head.
void predict_masked_roberta(GraphBuilder& b, const Bert& bert, const Encoded& encoded) {
  auto scope = b.scope("lm_head");
  ValueId x = activate(b, linear(b, encoded.hidden, {"dense", bert.hidden_size, bert.hidden_size, true}), "gelu");
  x = normalize(b, x, "layer_norm", bert.hidden_size, bert.stack.norm);
  x = tied_linear(b, x, {"decoder", bert.hidden_size, bert.vocab_size}, {encoded.words});
  b.output(b.op("Add", {x, b.parameter("bias", {bert.vocab_size})}));
}

template <typename Change>
void change_attention(Stack& stack, Change change) {
  for (Layer& layer : stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    change(attention);
    layer.mixer = attention;
  }
}

}  // namespace

void build_bert(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "");
  builder.output(pool(builder, bert, run(builder, bert).hidden));
}

void build_bert_masked(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "bert");
  predict_masked(builder, bert, run(builder, bert));
}

void build_bert_classifier(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "bert");
  ValueId x = pool(builder, bert, run(builder, bert).hidden);
  builder.output(linear(builder, x, {"classifier", bert.hidden_size, label_count(config), true}));
}

void build_roberta_masked(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "roberta");
  predict_masked_roberta(builder, bert, run(builder, bert));
}

void build_roberta(GraphBuilder& builder, const ModelConfig& config) {
  build_bert(builder, config);
}

void build_electra_discriminator(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "electra");
  ValueId x = run(builder, bert).hidden;
  x = activate(builder, linear(builder, x, {"discriminator_predictions.dense", bert.hidden_size, bert.hidden_size, true}), bert.activation);
  builder.output(linear(builder, x, {"discriminator_predictions.dense_prediction", bert.hidden_size, 1, true}));
}

// Positions enter attention as distances, where relative_attention is set.
void build_deberta_masked(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "deberta");
  bert.types = config.integer("type_vocab_size", 0);
  bert.position_embeddings = config.flag("position_biased_input", true);
  change_attention(bert.stack, [](Attention& part) {
    part.query = "self.query_proj", part.key = "self.key_proj", part.value = "self.value_proj";
  });
  Encoded encoded = run(builder, bert);
  if (config.flag("relative_attention", false)) {
    auto scope = builder.scope("deberta.encoder");
    GraphBuilder::Silence read_by_all_layers(builder);
    int64_t buckets = config.integer("position_buckets", -1), longest = config.integer("max_relative_positions", -1);
    int64_t rows = 2 * (buckets > 0 ? buckets : longest > 0 ? longest : bert.positions);
    builder.parameter("rel_embeddings.weight", {rows, bert.hidden_size});
    if (config.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos) {
      normalize(builder, {}, "LayerNorm", bert.hidden_size, bert.stack.norm);
    }
  }
  predict_masked(builder, bert, encoded);
}

// A window on each side, and a second set of projections for tokens that see everything.
void build_longformer_masked(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "longformer");
  std::vector<int64_t> windows = config.integers("attention_window");
  int64_t index = 0;
  change_attention(bert.stack, [&](Attention& part) {
    int64_t own = index < static_cast<int64_t>(windows.size()) ? windows[static_cast<size_t>(index)]
                                                               : config.integer("attention_window", 512);
    part.block = own + 1;
    ++index;
  });
  for (Layer& layer : bert.stack.layers) {
    Attention local = *layer.mixer.target<Attention>();
    layer.mixer = [local](GraphBuilder& b, ValueId x, int64_t i) {
      {
        auto scope = b.scope("attention.self");
        GraphBuilder::Silence no_global_tokens(b);
        for (const char* name : {"query_global", "key_global", "value_global"}) {
          linear(b, {}, {name, local.hidden_size, local.hidden_size, true});
        }
      }
      return local(b, x, i);
    };
  }
  predict_masked_roberta(builder, bert, run(builder, bert));
}

// Norms before the blocks.
void build_megatron_bert_masked(GraphBuilder& builder, const ModelConfig& config) {
  Bert bert = bert_of(config, "bert");
  bert.embedding_norm = false;
  for (Layer& layer : bert.stack.layers) {
    layer.norm_after_sum = false;
    layer.mixer_norm = "attention.ln";
    layer.feed_forward_norm = "ln";
  }
  Encoded encoded = run(builder, bert);
  {
    auto scope = builder.scope("bert.encoder");
    encoded.hidden = normalize(builder, encoded.hidden, "ln", bert.hidden_size, bert.stack.norm);
  }
  predict_masked(builder, bert, encoded);
}

}  // namespace kcharter
