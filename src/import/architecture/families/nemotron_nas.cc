// DeciLM and Nemotron's searched variants of Llama: every layer has head counts and sizes of its own, a
// block may be one linear layer or be left out.
#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"

namespace kcharter {
namespace {

// A multiple of the hidden size, two thirds of it for a gated block, up to the next 256.
int64_t feed_forward_size(const ModelConfig& block, int64_t hidden) {
  if (std::optional<int64_t> given = block.integer("intermediate_size")) return *given;
  int64_t size = static_cast<int64_t>(2 * block.number("ffn_mult", 4) * static_cast<double>(hidden) / 3);
  return (size + 255) / 256 * 256;
}

Block linear_block(const std::string& module, const std::string& name, int64_t size) {
  return [=](GraphBuilder& b, ValueId x, int64_t) {
    auto scope = b.scope(module);
    return linear(b, x, {name, size, size});
  };
}

Layer layer_of(const ModelConfig& config, const ModelConfig& blocks) {
  Layer layer;
  int64_t size = config.require("hidden_size");
  ModelConfig attends = blocks.section("attention"), feeds = blocks.section("ffn");
  if (attends.flag("replace_with_linear", false)) {
    layer.mixer = linear_block("self_attn", "linear_attn", size);
  } else if (!attends.flag("no_op", false)) {
    Attention attention = attention_of(config);
    attention.qkv_bias = attention.output_bias = config.flag("attention_bias", false);
    int64_t group = attends.integer("n_heads_in_group", 0);
    attention.kv_heads = attends.integer("num_key_value_heads", group > 0 ? attention.heads / group : attention.kv_heads);
    attention.window = attends.integer("window_length");
    layer.mixer = attention;
  }
  if (feeds.flag("replace_with_linear", false)) {
    layer.feed_forward = linear_block("mlp", "linear_mlp", size);
  } else if (!feeds.flag("no_op", false)) {
    FeedForward part;
    part.hidden_size = size;
    part.intermediate_size = feed_forward_size(feeds, size);
    part.activation = config.text("hidden_act", "silu");
    layer.feed_forward = part;
  }
  return layer;
}

}  // namespace

void build_deci(GraphBuilder& builder, const ModelConfig& config) {
  Decoder decoder = decoder_of(config);
  std::vector<ModelConfig> blocks = config.sections("block_configs");
  std::vector<int64_t> heads = config.integers("num_key_value_heads_per_layer");
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    Layer& layer = decoder.layers[i];
    if (i < blocks.size()) {
      layer = layer_of(config, blocks[i]);
    } else if (i < heads.size()) {
      Attention attention = attention_of(config);
      attention.kv_heads = heads[i];
      layer.mixer = attention;
    }
  }
  build(builder, decoder);
}

}  // namespace kcharter
