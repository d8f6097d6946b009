// BERT, RoBERTa, ELECTRA, Megatron-BERT, DistilBERT, ALBERT and MPNet.
#include "import/architecture/families/encoder_families.h"
#include "import/architecture/text_encoder.h"
#include "kcharter/base/error.h"

namespace kcharter {

void build_bert(GraphBuilder& builder, const ModelConfig& config) {
  build(builder, text_encoder_of(config, "bert"), config);
}

void build_roberta(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(config, "roberta");
  encoder.heads = HeadStyle::kRoberta;
  build(builder, encoder, config);
}

void build_electra(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(config, "electra");
  encoder.heads = HeadStyle::kElectra;
  encoder.pooler.clear();
  build(builder, encoder, config);
}

// Norms before the blocks.
void build_megatron_bert(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(config, "bert");
  encoder.embedding_norm = false;
  for (Layer& layer : encoder.stack.layers) {
    layer.norm_after_sum = false;
    layer.mixer_norm = "attention.ln";
    layer.feed_forward_norm = "ln";
  }
  encoder.layers = [stack = encoder.stack](GraphBuilder& b, ValueId x) {
    x = build_layers(b, stack, x);
    auto scope = b.scope("encoder");
    return normalize(b, x, "ln", stack.hidden_size, stack.norm);
  };
  build(builder, encoder, config);
}

void build_distilbert(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(config, "distilbert");
  encoder.heads = HeadStyle::kDistil;
  encoder.pooler.clear();
  encoder.types = 0;
  encoder.stack.layer_list = "transformer.layer";
  for (Layer& layer : encoder.stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    attention.query = "q_lin", attention.key = "k_lin", attention.value = "v_lin",
    attention.output = "out_lin";
    layer.mixer = attention;
    FeedForward feed_forward = *layer.feed_forward.target<FeedForward>();
    feed_forward.name = "ffn";
    feed_forward.up = "lin1";
    feed_forward.down = "lin2";
    layer.feed_forward = feed_forward;
    layer.mixer_norm = "sa_layer_norm";
    layer.feed_forward_norm = "output_layer_norm";
  }
  build(builder, encoder, config);
}

// Few groups of weights, used by many layers one after the other.
void build_albert(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(
      config.with_defaults(ModelConfig::parse(R"({"embedding_size": 128})")), "albert");
  encoder.heads = HeadStyle::kAlbert;
  encoder.pooler = "pooler";
  encoder.projection = "encoder.embedding_hidden_mapping_in";
  int64_t layers = layers_of(config), groups = config.integer("num_hidden_groups", 1),
          inner = config.integer("inner_group_num", 1);
  if (groups < 1 || inner < 1 || inner > 1000)
    throw Error("'num_hidden_groups' or 'inner_group_num' is out of range");
  Stack stack = encoder.stack;
  change_attention(stack, [](Attention& part) {
    part.query = "query", part.key = "key", part.value = "value", part.output = "dense";
  });
  for (Layer& layer : stack.layers) {
    FeedForward feed_forward = *layer.feed_forward.target<FeedForward>();
    feed_forward.up = "ffn";
    feed_forward.down = "ffn_output";
    layer.feed_forward = feed_forward;
    layer.mixer_norm = "attention.LayerNorm";
    layer.feed_forward_norm = "full_layer_layer_norm";
  }
  stack.layer_list = "albert_layers";
  encoder.layers = [=](GraphBuilder& b, ValueId x) {
    GraphBuilder::SharedWeights shared(b);
    for (int64_t i = 0; i < layers; ++i) {
      // transformers picks the group in floating point: layer / (layers / groups).
      int64_t group = i * groups / layers;
      auto scope = b.scope("encoder.albert_layer_groups", group);
      for (int64_t k = 0; k < inner; ++k)
        x = build_layer(b, stack, stack.layers[static_cast<size_t>(i)], x, k);
    }
    return x;
  };
  build(builder, encoder, config);
}

// One table of relative positions for all layers.
void build_mpnet(GraphBuilder& builder, const ModelConfig& config) {
  TextEncoder encoder = text_encoder_of(config, "mpnet");
  encoder.heads = HeadStyle::kRoberta;
  encoder.types = 0;
  int64_t buckets = config.integer("relative_attention_num_buckets", 32),
          heads = config.require("num_attention_heads");
  change_attention(encoder.stack, [](Attention& part) {
    part.query = "attn.q", part.key = "attn.k", part.value = "attn.v", part.output = "attn.o";
  });
  for (Layer& layer : encoder.stack.layers) layer.mixer_norm = "attention.LayerNorm";
  encoder.layers = [=, stack = encoder.stack](GraphBuilder& b, ValueId x) {
    {
      auto scope = b.scope("encoder.relative_attention_bias");
      GraphBuilder::Silence gathered_at_load(b);
      b.parameter("weight", {buckets, heads});
    }
    return build_layers(b, stack, x);
  };
  build(builder, encoder, config);
}

}  // namespace kcharter
