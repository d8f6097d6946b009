// Step 3.5 and 3.7, text: windowed layers with their own head count, a gate of each head, experts stacked in
// one tensor beside a shared one, layers that predict further tokens with heads of their own.
#include <algorithm>
#include <charconv>

#include "import/architecture/families/families.h"
#include "import/architecture/families/language_families.h"

namespace kcharter {
namespace {

// "3,4,5" or a list of numbers; neither: all from the first routed layer on.
std::vector<int64_t> routed_layers(const ModelConfig& config) {
  std::vector<int64_t> layers = config.integers("moe_layers_enum");
  std::string text = config.text("moe_layers_enum");
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    int64_t layer = 0;
    if (std::from_chars(text.data() + begin, text.data() + end, layer).ec == std::errc()) layers.push_back(layer);
    begin = end + 1;
  }
  if (!layers.empty()) return layers;
  for (int64_t i = config.integer("first_k_dense_replace", 3); i < layers_of(config); ++i) layers.push_back(i);
  return layers;
}

Attention attention_at(const ModelConfig& config, size_t layer) {
  Attention attention = attention_of(config);
  attention.query_key_norm = QueryKeyNorm::kPerHead;
  attention.norm.epsilon = config.number("rms_norm_eps", 1e-5);
  if (config.flag("use_head_wise_attn_gate", false)) attention.head_gate = "g_proj";
  std::vector<std::string> types = config.texts("layer_types");
  if (layer >= types.size() || types[layer] != "sliding_attention") return attention;
  ModelConfig other = config.section("attention_other_setting");
  attention.heads = config.integer("num_sliding_attention_heads", other.integer("num_attention_heads", attention.heads));
  attention.kv_heads = other.integer("num_key_value_heads", attention.kv_heads);
  attention.head_dim = other.integer("head_dim", attention.head_dim);
  attention.window = config.integer("sliding_window");
  return attention;
}

Block experts_beside(const ModelConfig& config) {
  MixtureOfExperts experts = mixture_of(config);
  experts.name = "moe";
  experts.expert_list.clear();
  experts.stacked = true;
  experts.stacked_suffix = ".weight";
  if (config.flag("use_moe_router_bias", false)) experts.correction_bias = "router_bias";
  experts.correction_is_parameter = true;
  FeedForward shared = feed_forward_of(config);
  shared.name = "share_expert";
  shared.intermediate_size = config.integer("share_expert_dim", config.integer("share_expert_dims", 1280));
  return [experts, shared](GraphBuilder& b, ValueId x, int64_t layer) {
    return b.op("Add", {experts(b, x, layer), shared(b, x, layer)});
  };
}

void declare_prediction_layers(GraphBuilder& builder, const ModelConfig& config, const Decoder& decoder) {
  GraphBuilder::Silence silence(builder);
  int64_t size = decoder.hidden_size;
  for (int64_t i = 0; i < config.integer("num_nextn_predict_layers", 0) && i < 64; ++i) {
    size_t index = decoder.layers.size() + static_cast<size_t>(i);
    auto model = builder.scope(decoder.model);
    {
      auto layer = builder.scope(decoder.layer_list, static_cast<int64_t>(index));
      normalize(builder, {}, "enorm", size, decoder.norm);
      normalize(builder, {}, "hnorm", size, decoder.norm);
      linear(builder, {}, {"eh_proj", 2 * size, size});
      auto head = builder.scope("transformer.shared_head");
      normalize(builder, {}, "norm", size, decoder.norm);
      linear(builder, {}, {"output", size, decoder.vocab_size});
    }
    Layer layer;
    layer.mixer = attention_at(config, index);
    layer.feed_forward = feed_forward_of(config);
    build_layer(builder, decoder, layer, {}, static_cast<int64_t>(index));
  }
}

}  // namespace

void build_step3p5(GraphBuilder& builder, const ModelConfig& config) {
  ModelConfig text = config.has("text_config") ? config.section("text_config") : config;
  Decoder decoder = decoder_of(text);
  decoder.norm.epsilon = text.number("rms_norm_eps", 1e-5);
  if (config.has("text_config") && config.has("vision_config")) {
    builder.diagnostics().add(Severity::kWarning, "tower-not-known", "vision_config",
                              "the vision tower is not charted");
  }
  std::vector<int64_t> routed = routed_layers(text);
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    decoder.layers[i].mixer = attention_at(text, i);
    if (std::find(routed.begin(), routed.end(), static_cast<int64_t>(i)) != routed.end()) {
      decoder.layers[i].feed_forward = experts_beside(text);
    }
  }
  build(builder, decoder);
  declare_prediction_layers(builder, text, decoder);
}

}  // namespace kcharter
