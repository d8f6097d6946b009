// ViT, DeiT and BEiT: image classifiers in the words of BERT.
#include "import/architecture/families/families.h"
#include "import/architecture/families/vision_families.h"

namespace kcharter {
namespace {

Stack bert_like_stack(const VisionSizes& sizes, const std::string& list) {
  Stack stack = vision_stack(sizes);
  stack.layer_list = list;
  Attention attention = *stack.layers.at(0).mixer.target<Attention>();
  attention.name = "attention";
  attention.query = "attention.query";
  attention.key = "attention.key";
  attention.value = "attention.value";
  attention.output = "output.dense";
  FeedForward feed_forward = *stack.layers.at(0).feed_forward.target<FeedForward>();
  feed_forward.name.clear();
  feed_forward.up = "intermediate.dense";
  feed_forward.down = "output.dense";
  for (Layer& layer : stack.layers) {
    layer.mixer = attention;
    layer.feed_forward = feed_forward;
    layer.mixer_norm = "layernorm_before";
    layer.feed_forward_norm = "layernorm_after";
  }
  return stack;
}

PatchEmbedding patches_of(const ModelConfig& config, int64_t hidden) {
  return {.name = "embeddings.patch_embeddings.projection",
          .hidden_size = hidden,
          .channels = config.integer("num_channels", 3),
          .image_size = config.integer("image_size", 224),
          .patch_size = config.integer("patch_size", 16)};
}

VisionSizes sizes_of(const ModelConfig& config) {
  VisionSizes sizes = vision_sizes_of(config, "gelu");
  sizes.epsilon = config.number("layer_norm_eps", 1e-12);
  return sizes;
}

ValueId run_vit(GraphBuilder& b, const ModelConfig& config, int64_t extra_tokens) {
  VisionSizes sizes = sizes_of(config);
  PatchEmbedding patches = patches_of(config, sizes.hidden_size);
  ValueId x = embed_patches(b, patches);
  if (extra_tokens > 1)
    x = prepend_token(b, x, "embeddings.distillation_token", {1, 1, sizes.hidden_size});
  x = prepend_token(b, x, "embeddings.cls_token", {1, 1, sizes.hidden_size});
  x = add_table(b, x, "embeddings.position_embeddings",
                {1, patches.patches() + extra_tokens, sizes.hidden_size});
  Stack stack = bert_like_stack(sizes, "encoder.layer");
  for (Layer& layer : stack.layers) {
    Attention attention = *layer.mixer.target<Attention>();
    attention.qkv_bias = config.flag("qkv_bias", true);
    layer.mixer = attention;
  }
  x = build_layers(b, stack, x);
  return normalize(b, x, "layernorm", sizes.hidden_size, stack.norm);
}

void classify(GraphBuilder& b, ValueId x, const ModelConfig& config, int64_t hidden) {
  b.output(linear(b, b.ours("FirstToken", {x}), {"classifier", hidden, label_count(config), true}));
}

}  // namespace

void build_vit_classifier(GraphBuilder& builder, const ModelConfig& config) {
  ValueId x;
  {
    auto scope = builder.scope("vit");
    x = run_vit(builder, config, 1);
  }
  classify(builder, x, config, config.require("hidden_size"));
}

void build_deit_classifier(GraphBuilder& builder, const ModelConfig& config) {
  ValueId x;
  {
    auto scope = builder.scope("deit");
    x = run_vit(builder, config, 2);
  }
  classify(builder, x, config, config.require("hidden_size"));
}

namespace {

// The class token through a dense layer.
void pool(GraphBuilder& b, ValueId x, const ModelConfig& config) {
  int64_t size = config.require("hidden_size");
  x = linear(b, b.ours("FirstToken", {x}), {"pooler.dense", size, size, true});
  b.output(activate(b, x, config.text("pooler_act", "tanh")));
}

}  // namespace

void build_vit(GraphBuilder& builder, const ModelConfig& config) {
  pool(builder, run_vit(builder, config, 1), config);
}
void build_deit(GraphBuilder& builder, const ModelConfig& config) {
  pool(builder, run_vit(builder, config, 2), config);
}

// Classes as the class token and as the distillation token have them.
void build_deit_distilled(GraphBuilder& builder, const ModelConfig& config) {
  ValueId x;
  {
    auto scope = builder.scope("deit");
    x = run_vit(builder, config, 2);
  }
  int64_t size = config.require("hidden_size"), labels = label_count(config);
  for (const char* name : {"cls_classifier", "distillation_classifier"}) {
    builder.output(linear(builder, builder.ours("FirstToken", {x}), {name, size, labels, true}));
  }
}

// No bias of keys, a learned factor after each block, biases of relative position in each layer.
namespace {

ValueId run_beit(GraphBuilder& builder, const ModelConfig& config) {
  VisionSizes sizes = sizes_of(config);
  PatchEmbedding patches = patches_of(config, sizes.hidden_size);
  int64_t side = patches.image_size / patches.patch_size;
  Stack stack = bert_like_stack(sizes, "encoder.layer");
  Attention attention = *stack.layers.at(0).mixer.target<Attention>();
  attention.key_bias = false;
  FeedForward feed_forward = *stack.layers.at(0).feed_forward.target<FeedForward>();
  bool factors = config.number("layer_scale_init_value", 0.1) > 0;
  bool relative = config.flag("use_relative_position_bias", false);
  int64_t size = sizes.hidden_size, rows = (2 * side - 1) * (2 * side - 1) + 3;
  auto scaled = [factors, size](GraphBuilder& b, ValueId x, const char* name) {
    return factors ? b.op("Mul", {x, b.parameter(name, {size})}) : x;
  };
  for (Layer& layer : stack.layers) {
    layer.mixer = [=](GraphBuilder& b, ValueId x, int64_t i) {
      if (relative) {
        auto table = b.scope("attention.attention.relative_position_bias");
        GraphBuilder::Silence gathered_at_load(b);
        b.parameter("relative_position_bias_table", {rows, sizes.heads});
      }
      return scaled(b, attention(b, x, i), "lambda_1");
    };
    layer.feed_forward = [=](GraphBuilder& b, ValueId x, int64_t i) {
      return scaled(b, feed_forward(b, x, i), "lambda_2");
    };
  }
  bool pooled = config.flag("use_mean_pooling", true);
  ValueId x = embed_patches(builder, patches);
  x = prepend_token(builder, x, "embeddings.cls_token", {1, 1, size});
  if (config.flag("use_mask_token", false)) {
    GraphBuilder::Silence for_training(builder);
    builder.parameter("embeddings.mask_token", {1, 1, size});
  }
  if (config.flag("use_absolute_position_embeddings", false)) {
    x = add_table(builder, x, "embeddings.position_embeddings", {1, patches.patches() + 1, size});
  }
  if (config.flag("use_shared_relative_position_bias", false)) {
    auto table = builder.scope("encoder.relative_position_bias");
    GraphBuilder::Silence gathered_at_load(builder);
    builder.parameter("relative_position_bias_table", {rows, sizes.heads});
  }
  x = build_layers(builder, stack, x);
  if (!pooled) return normalize(builder, x, "layernorm", size, stack.norm);
  x = builder.ours("PoolTokens", {x}, {attribute("tokens", int64_t{1})});
  return normalize(builder, x, "pooler.layernorm", size, stack.norm);
}

}  // namespace

void build_beit(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run_beit(builder, config));
}

void build_beit_classifier(GraphBuilder& builder, const ModelConfig& config) {
  ValueId x;
  {
    auto scope = builder.scope("beit");
    x = run_beit(builder, config);
  }
  builder.output(
      linear(builder, x, {"classifier", config.require("hidden_size"), label_count(config), true}));
}

}  // namespace kcharter
