// Swin: attention within windows of the grid; each stage has a quarter of the tokens, twice as
// wide.
#include <algorithm>

#include "import/architecture/convolution.h"
#include "import/architecture/families/vision_families.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Swin {
  int64_t size = 96, window = 7, side = 56;  // width and grid of the first stage
  std::vector<int64_t> depths, heads;
  double ratio = 4;
  bool qkv_bias = true;
  std::string activation;
  Norm norm;
};

Swin swin_of(const ModelConfig& config) {
  Swin swin;
  swin.size = config.integer("embed_dim", 96);
  swin.window = config.integer("window_size", 7);
  int64_t patch = config.integer("patch_size", 4);
  if (patch < 1 || swin.window < 1) throw Error("'patch_size' or 'window_size' is below 1");
  swin.side = config.integer("image_size", 224) / patch;
  swin.depths = config.integers("depths");
  swin.heads = config.integers("num_heads");
  if (swin.depths.empty()) swin.depths = {2, 2, 6, 2};
  if (swin.heads.empty()) swin.heads = {3, 6, 12, 24};
  check_stages({swin.depths, swin.heads});
  swin.ratio = config.number("mlp_ratio", 4);
  swin.qkv_bias = config.flag("qkv_bias", true);
  swin.activation = config.text("hidden_act", "gelu");
  swin.norm = {.kind = NormKind::kLayer, .epsilon = config.number("layer_norm_eps", 1e-5)};
  return swin;
}

// One stage's own facts.
struct Stage {
  int64_t size, heads, side, window;
  int64_t padded() const { return (side + window - 1) / window * window; }
};

// The index of each pair of positions in the table is a buffer.
ValueId attend_in_windows(GraphBuilder& b, const Swin& swin, const Stage& stage, ValueId x) {
  auto scope = b.scope("attention");
  bool padded = stage.padded() != stage.side;
  if (padded) x = b.ours("PadTokens", {x}, {attribute("tokens", stage.padded() * stage.padded())});
  {
    auto self = b.scope("self");
    int64_t size = stage.size, pairs = stage.window * stage.window;
    ValueId q = linear(b, x, {"query", size, size, swin.qkv_bias});
    ValueId k = linear(b, x, {"key", size, size, swin.qkv_bias});
    ValueId v = linear(b, x, {"value", size, size, swin.qkv_bias});
    int64_t rows = (2 * stage.window - 1) * (2 * stage.window - 1);
    ValueId table = b.parameter("relative_position_bias_table", {rows, stage.heads});
    b.buffer("relative_position_index", {pairs, pairs}, DType::kInt64);
    x = attend_to_all(b, q, k, v, stage.heads, size / stage.heads, pairs, table);
  }
  x = linear(b, x, {"output.dense", stage.size, stage.size, true});
  return padded ? b.ours("PadTokens", {x}, {attribute("tokens", stage.side * stage.side)}) : x;
}

ValueId run_block(GraphBuilder& b, const Swin& swin, const Stage& stage, ValueId x) {
  int64_t inner = static_cast<int64_t>(swin.ratio * static_cast<double>(stage.size));
  ValueId normal = normalize(b, x, "layernorm_before", stage.size, swin.norm);
  x = b.op("Add", {x, attend_in_windows(b, swin, stage, normal)});
  normal = normalize(b, x, "layernorm_after", stage.size, swin.norm);
  ValueId fed = activate(b, linear(b, normal, {"intermediate.dense", stage.size, inner, true}),
                         swin.activation);
  return b.op("Add", {x, linear(b, fed, {"output.dense", inner, stage.size, true})});
}

ValueId run(GraphBuilder& b, const Swin& swin, const ModelConfig& config) {
  PatchEmbedding patches{.name = "embeddings.patch_embeddings.projection",
                         .hidden_size = swin.size,
                         .channels = config.integer("num_channels", 3),
                         .image_size = config.integer("image_size", 224),
                         .patch_size = config.integer("patch_size", 4)};
  ValueId x = embed_patches(b, patches);
  x = normalize(b, x, "embeddings.norm", swin.size, {.kind = NormKind::kLayer, .epsilon = 1e-5});
  if (config.flag("use_absolute_embeddings", false)) {
    // One row more than there are patches: transformers sizes the table for a class token too.
    ValueId table =
        b.parameter("embeddings.position_embeddings", {1, swin.side * swin.side + 1, swin.size},
                    {1, swin.side * swin.side, swin.size});
    x = b.op("Add", {x, table});
  }
  Stage stage{swin.size, 0, swin.side, 0};
  for (size_t i = 0; i < swin.depths.size(); ++i) {
    auto scope = b.scope("encoder.layers", static_cast<int64_t>(i));
    stage.heads = swin.heads[i];
    stage.window = std::min(swin.window, stage.side);
    if (stage.heads < 1 || stage.window < 1) throw Error("a stage has no heads or no grid left");
    for (int64_t block = 0; block < swin.depths[i]; ++block) {
      auto blocks = b.scope("blocks", block);
      x = run_block(b, swin, stage, x);
    }
    if (i + 1 == swin.depths.size()) break;
    auto smaller = b.scope("downsample");
    int64_t even = (stage.side + 1) / 2 * 2;
    if (even != stage.side) x = b.ours("PadTokens", {x}, {attribute("tokens", even * even)});
    x = normalize(b, merge_neighbours(b, x, 4), "norm", 4 * stage.size,
                  {.kind = NormKind::kLayer, .epsilon = 1e-5});
    x = linear(b, x, {"reduction", 4 * stage.size, 2 * stage.size});
    stage.size *= 2;
    stage.side = even / 2;
  }
  x = normalize(b, x, "layernorm", stage.size, swin.norm);
  return b.ours("PoolTokens", {x}, {attribute("tokens", int64_t{1})});
}

}  // namespace

void build_swin(GraphBuilder& builder, const ModelConfig& config) {
  builder.output(run(builder, swin_of(config), config));
}

void build_swin_classifier(GraphBuilder& builder, const ModelConfig& config) {
  Swin swin = swin_of(config);
  ValueId x;
  {
    auto scope = builder.scope("swin");
    x = run(builder, swin, config);
  }
  int64_t width = swin.size << (swin.depths.size() - 1);
  builder.output(linear(builder, x, {"classifier", width, label_count(config), true}));
}

}  // namespace kcharter
