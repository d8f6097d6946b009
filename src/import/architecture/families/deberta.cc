// DeBERTa: attention scores know the distance of two tokens (arXiv 2006.03654 §3.1, 2111.09543).
#include <algorithm>

#include "import/architecture/families/encoder_families.h"
#include "import/architecture/text_encoder.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Deberta {
  int64_t hidden_size = 0, heads = 0, width = 0;
  bool second = true;  // the second version's names
  bool relative = false, shared = false, to_position = false, from_position = false,
       talking = false;
  int64_t span = 512;  // distances on each side
  bool norm_distances = false;
  int64_t kernel = 0;  // a convolution beside the first layer; 0: none
};

Deberta deberta_of(const ModelConfig& config, bool second) {
  Deberta part;
  part.hidden_size = config.require("hidden_size");
  part.heads = config.require("num_attention_heads");
  if (part.heads < 1) throw Error("'num_attention_heads' is 0");
  int64_t head = config.integer("attention_head_size", part.hidden_size / part.heads);
  part.width = second ? head * part.heads : part.hidden_size;
  part.second = second;
  part.relative = config.flag("relative_attention", false);
  part.shared = second && config.flag("share_att_key", false);
  part.talking = !second && config.flag("talking_head", false);
  std::vector<std::string> kinds = config.texts("pos_att_type");
  std::string joined = config.text("pos_att_type");
  auto has = [&](const char* kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end() ||
           joined.find(kind) != std::string::npos;
  };
  part.to_position = part.relative && has("c2p");
  part.from_position = part.relative && has("p2c");
  int64_t buckets = second ? config.integer("position_buckets", -1) : -1,
          longest = config.integer("max_relative_positions", -1);
  part.span = buckets > 0   ? buckets
              : longest > 0 ? longest
                            : config.integer("max_position_embeddings", 512);
  part.norm_distances = second && part.relative &&
                        config.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos;
  part.kernel = second ? config.integer("conv_kernel_size", 0) : 0;
  return part;
}

struct Projected {
  ValueId query, key, value;
  ValueId query_weight, key_weight;  // where distances are projected by them too
};

Projected project(GraphBuilder& b, const Deberta& part, ValueId x) {
  Projected all;
  if (!part.second) {
    std::vector<ValueId> parts =
        b.split(linear(b, x, {"in_proj", part.hidden_size, 3 * part.width}),
                {part.width, part.width, part.width});
    all.query = b.op("Add", {parts[0], b.parameter("q_bias", {part.width})});
    all.key = parts[1];
    all.value = b.op("Add", {parts[2], b.parameter("v_bias", {part.width})});
    return all;
  }
  all.query = linear(b, x, {"query_proj", part.hidden_size, part.width, true});
  all.key = linear(b, x, {"key_proj", part.hidden_size, part.width, true});
  all.value = linear(b, x, {"value_proj", part.hidden_size, part.width, true});
  return all;
}

// What each token's query (or key) says to each distance.
ValueId scores(GraphBuilder& b, const Deberta& part, ValueId tokens, ValueId distances) {
  return b.ours("RelativeScores", {tokens, distances},
                {attribute("num_heads", part.heads), attribute("rows", 2 * part.span),
                 attribute("columns", int64_t{0})});
}

// Distances, as keys and as queries.
ValueId distance_scores(GraphBuilder& b, const Deberta& part, const Projected& all,
                        ValueId distances) {
  auto projected = [&](const char* own, const char* shared_with, bool bias) {
    GraphBuilder::SharedWeights same_matrix(b);
    return linear(b, distances,
                  {part.shared ? shared_with : own, part.hidden_size, part.width, bias});
  };
  ValueId sum;
  if (part.to_position) {
    sum = scores(b, part, all.query,
                 projected(part.second ? "pos_key_proj" : "pos_proj", "key_proj", part.second));
  }
  if (part.from_position) {
    ValueId other =
        scores(b, part, all.key,
               projected(part.second ? "pos_query_proj" : "pos_q_proj", "query_proj", true));
    sum = part.to_position ? b.op("Add", {sum, other}) : other;
  }
  return sum;
}

ValueId attend(GraphBuilder& b, const Deberta& part, ValueId x, ValueId distances) {
  auto scope = b.scope("attention");
  {
    auto self = b.scope("self");
    GraphBuilder::SharedWeights same_matrices(b);
    Projected all = project(b, part, x);
    if (part.talking) {
      GraphBuilder::Silence mixes_heads(b);
      linear(b, {}, {"head_logits_proj", part.heads, part.heads});
      linear(b, {}, {"head_weights_proj", part.heads, part.heads});
    }
    ValueId bias = part.to_position || part.from_position ? distance_scores(b, part, all, distances)
                                                          : ValueId();
    x = attend_to_all(b, all.query, all.key, all.value, part.heads, part.width / part.heads, 0,
                      bias);
  }
  return linear(b, x, {"output.dense", part.width, part.hidden_size, true});
}

ValueId convolve_beside(GraphBuilder& b, const ModelConfig& config, const Deberta& part, ValueId x,
                        ValueId hidden, const Norm& norm) {
  auto scope = b.scope("encoder.conv");
  int64_t groups = config.integer("conv_groups", 1);
  if (groups < 1) throw Error("'conv_groups' is below 1");
  auto turned = [&](ValueId value) {
    return b.op("Transpose", {value}, {attribute("perm", std::vector<int64_t>{0, 2, 1})});
  };
  {
    auto conv = b.scope("conv");
    std::vector<ValueId> inputs = {
        turned(x),
        b.parameter("weight", {part.hidden_size, part.hidden_size / groups, part.kernel}),
        b.parameter("bias", {part.hidden_size})};
    int64_t pad = (part.kernel - 1) / 2;
    x = b.op("Conv", std::move(inputs),
             {attribute("group", groups), attribute("pads", std::vector<int64_t>{pad, pad})});
  }
  x = activate(b, turned(x), config.text("conv_act", "tanh"));
  return normalize(b, b.op("Add", {hidden, x}), "LayerNorm", part.hidden_size, norm);
}

void build_deberta(GraphBuilder& builder, const ModelConfig& config, bool second) {
  TextEncoder encoder = text_encoder_of(config, "deberta");
  encoder.heads = HeadStyle::kDeberta;
  encoder.pooler.clear();
  encoder.types = config.integer("type_vocab_size", 0);
  encoder.position_embeddings = config.flag("position_biased_input", true);
  if (encoder.embedding_size != encoder.hidden_size)
    throw Error("DeBERTa with a narrower embedding is not known");
  Deberta part = deberta_of(config, second);
  Stack stack = encoder.stack;
  encoder.layers = [=](GraphBuilder& b, ValueId x) {
    ValueId distances;
    if (part.relative) {
      auto scope = b.scope("encoder");
      distances = b.parameter("rel_embeddings.weight", {2 * part.span, part.hidden_size});
      if (part.norm_distances)
        distances = normalize(b, distances, "LayerNorm", part.hidden_size, stack.norm);
    }
    for (size_t i = 0; i < stack.layers.size(); ++i) {
      Layer layer = stack.layers[i];
      layer.mixer = [part, distances](GraphBuilder& inner, ValueId hidden, int64_t) {
        return attend(inner, part, hidden, distances);
      };
      ValueId next = build_layer(b, stack, layer, x, static_cast<int64_t>(i));
      x = i == 0 && part.kernel > 0 ? convolve_beside(b, config, part, x, next, stack.norm) : next;
    }
    return x;
  };
  build(builder, encoder, config);
}

}  // namespace

void build_deberta1(GraphBuilder& builder, const ModelConfig& config) {
  build_deberta(builder, config, false);
}
void build_deberta2(GraphBuilder& builder, const ModelConfig& config) {
  build_deberta(builder, config, true);
}

}  // namespace kcharter
