// Operators of our own domain, in which checkpoints' graphs are written where ONNX has no word.
// What each one takes and gives stands in src/ops/kcharter_*.cc.
#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// [B, S, …] of input 0, then `last`.
std::optional<Shape> tokens_by(const NodeInference& node, std::vector<Dim> last) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr || shape->size() < 2) return std::nullopt;
  Shape result = {(*shape)[0], (*shape)[1]};
  result.insert(result.end(), last.begin(), last.end());
  return result;
}

Expr product_of(const Node& node, std::string_view a, std::string_view b) {
  return Expr(int_attribute(node, a, 0)) * Expr(int_attribute(node, b, 0));
}

// Caches' presents were declared when the graph was written.
void keep_declared(NodeInference& node, size_t first) {
  for (size_t i = first; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    const auto& declared = node.graph[node.node.outputs[i]].declared;
    if (declared) node.set(i, *declared);
  }
}

void reshape(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto* wanted = ints_attribute(node.node, "shape");
  if (shape == nullptr || wanted == nullptr) return;
  Shape result;
  Dim all = element_count(node.input(0));
  int64_t rest = -1;
  Dim known = Expr(1);
  for (size_t i = 0; i < wanted->size(); ++i) {
    Dim dim;
    if ((*wanted)[i] == 0 && i < shape->size())
      dim = (*shape)[i];
    else if ((*wanted)[i] > 0)
      dim = Expr((*wanted)[i]);
    else
      rest = static_cast<int64_t>(i);
    if ((*wanted)[i] >= 0) known = times(known, dim);
    result.push_back(dim);
  }
  if (rest >= 0 && all && known) result[static_cast<size_t>(rest)] = floor_div(*all, *known);
  node.set(0, node.input_dtype(0), std::move(result));
}

void last_token(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr || shape->size() < 2) return;
  Shape result = *shape;
  result[1] = Expr(1);
  node.set(0, node.input_dtype(0), std::move(result));
}

void slice_layer(NodeInference& node) {
  node.set(0, node.input_dtype(0), tokens_by(node, {Expr(int_attribute(node.node, "size", 0))}));
}

void grid_to_tokens(NodeInference& node) {
  const Shape* grid = node.input_shape(0);
  if (grid == nullptr || grid->size() != 4) return;
  node.set(0, node.input_dtype(0), Shape{(*grid)[0], times((*grid)[2], (*grid)[3]), (*grid)[1]});
}

// Channels of the first input, height and width of the second.
void with_grid_of(NodeInference& node, Dim channels) {
  const Shape* grid = node.input_shape(1);
  if (grid == nullptr || grid->size() != 4) return;
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), std::move(channels), (*grid)[2], (*grid)[3]});
}

void tokens_to_grid(NodeInference& node) { with_grid_of(node, node.input_dim(0, 2)); }
void upsample_like(NodeInference& node) { with_grid_of(node, node.input_dim(0, 1)); }

void take_channels(NodeInference& node) {
  const Shape* grid = node.input_shape(0);
  if (grid == nullptr || grid->size() != 4) return;
  node.set(0, node.input_dtype(0), Shape{(*grid)[0], Expr(int_attribute(node.node, "channels", 0)), (*grid)[2], (*grid)[3]});
}

void to_square_grid(NodeInference& node) {
  const Expr side(int_attribute(node.node, "side", 0));
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), node.input_dim(0, 2), side, side});
}

void embed_points(NodeInference& node) {
  node.set(0, node.input_dtype(0), tokens_by(node, {Expr(int_attribute(node.node, "size", 0))}));
}

void upsample(NodeInference& node) {
  const Shape* grid = node.input_shape(0);
  if (grid == nullptr || grid->size() != 4) return;
  const Expr factor(int_attribute(node.node, "factor", 1));
  node.set(0, node.input_dtype(0), Shape{(*grid)[0], (*grid)[1], times((*grid)[2], factor), times((*grid)[3], factor)});
}

// [B, S, H] with another number of tokens.
void with_tokens(NodeInference& node, Dim tokens, Dim width) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr || shape->size() != 3) return;
  node.set(0, node.input_dtype(0), Shape{(*shape)[0], std::move(tokens), std::move(width)});
}

void pad_tokens(NodeInference& node) {
  with_tokens(node, Expr(int_attribute(node.node, "tokens", 1)), node.input_dim(0, 2));
}

void tokens_like(NodeInference& node) { with_tokens(node, node.input_dim(1, 1), node.input_dim(0, 2)); }

void repeat_tokens(NodeInference& node) {
  const Shape* rows = node.input_shape(0);
  if (rows == nullptr || rows->size() < 2) return;
  node.set(0, node.input_dtype(0), Shape{node.input_dim(1, 0), (*rows)[rows->size() - 2], rows->back()});
}

void relative_scores(NodeInference& node) {
  const Expr sides(int_attribute(node.node, "rows", 0) + int_attribute(node.node, "columns", 0));
  node.set(0, node.input_dtype(0), tokens_by(node, {Expr(int_attribute(node.node, "num_heads", 0)) * sides}));
}

void timestep_embedding(NodeInference& node) {
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), Expr(1), Expr(int_attribute(node.node, "size", 0))});
}

void prepend_tokens(NodeInference& node) {
  with_tokens(node, plus(node.input_dim(0, 1), Expr(int_attribute(node.node, "count", 1))), node.input_dim(0, 2));
}

void merge_neighbours(NodeInference& node) {
  const int64_t count = int_attribute(node.node, "count", 1);
  const Dim tokens = node.input_dim(0, 1);
  if (!tokens || count < 1) return;
  with_tokens(node, floor_div(*tokens, Expr(count)), times(node.input_dim(0, 2), Expr(count)));
}

void pool_tokens(NodeInference& node) {
  with_tokens(node, Expr(int_attribute(node.node, "tokens", 1)), node.input_dim(0, 2));
}

void pool_neighbours(NodeInference& node) {
  const Dim tokens = node.input_dim(0, 1);
  const int64_t count = int_attribute(node.node, "count", 1);
  if (tokens && count > 0) with_tokens(node, floor_div(*tokens, Expr(count)), node.input_dim(0, 2));
}

void similarity(NodeInference& node) {
  node.set(0, node.input_dtype(0), Shape{node.input_dim(0, 0), node.input_dim(1, 0)});
}

void attention(NodeInference& node) {
  node.set(0, node.input_dtype(0),
           tokens_by(node, {product_of(node.node, "num_heads", "v_head_dim")}));
  keep_declared(node, 1);
}

void route(NodeInference& node) {
  Expr chosen(int_attribute(node.node, "k", 0));
  node.set(0, node.input_dtype(0), tokens_by(node, {chosen}));
  node.set(1, DType::kInt32, tokens_by(node, {chosen}));
}

void expert_matmul(NodeInference& node) {
  node.set(0, node.input_dtype(0),
           tokens_by(node, {Expr(int_attribute(node.node, "k", 0)),
                            Expr(int_attribute(node.node, "out", 0))}));
}

void combine(NodeInference& node) {
  node.set(0, node.input_dtype(0), tokens_by(node, {node.input_dim(0, -1)}));
}

void sparse_indexer(NodeInference& node) {
  node.set(0, DType::kInt32, tokens_by(node, {Expr(int_attribute(node.node, "selected_keys", 0))}));
  keep_declared(node, 1);
}

void quantized_matmul(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr || shape->empty()) return;
  Shape result = *shape;
  result.back() = Expr(int_attribute(node.node, "out", 0));
  node.set(0, node.input_dtype(0), std::move(result));
}

void quantized_gather(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return;
  Shape result = *shape;
  result.push_back(Expr(int_attribute(node.node, "size", 0)));
  // The scales are in the type that the model computes in.
  node.set(0, node.input_dtype(node.input_count() - 1), std::move(result));
}

void convolution(NodeInference& node) {
  same_as_first_input(node);
  keep_declared(node, 1);
}

void compress_tokens(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const int64_t ratio = int_attribute(node.node, "ratio", 1);
  if (shape != nullptr && shape->size() == 3 && (*shape)[1] && ratio > 0) {
    const Dim entries = ceil_div(*(*shape)[1], Expr(ratio));
    node.set(0, node.input_dtype(0), Shape{(*shape)[0], entries, Expr(int_attribute(node.node, "size", 0))});
  }
  keep_declared(node, 1);
}

void recurrence(NodeInference& node) {
  node.set(0, node.input_dtype(0), tokens_by(node, {Expr(int_attribute(node.node, "width", 0))}));
  keep_declared(node, 1);
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOurs, "AddInterpolated", same_as_first_input},
    {kOurs, "AddPositions", same_as_first_input},
    {kOurs, "Attention", attention},
    {kOurs, "CausalConvolution", convolution},
    {kOurs, "CombineExperts", combine},
    {kOurs, "CompressTokens", compress_tokens},
    {kOurs, "CompressedAttention", attention},
    {kOurs, "CrossAttention", attention},
    {kOurs, "EmbedPoints", embed_points},
    {kOurs, "ExpertMatMul", expert_matmul},
    {kOurs, "FirstToken", last_token},
    {kOurs, "GatedDeltaRule", recurrence},
    {kOurs, "GridToTokens", grid_to_tokens},
    {kOurs, "KimiDeltaRule", recurrence},
    {kOurs, "LastToken", last_token},
    {kOurs, "LatentAttention", attention},
    {kOurs, "LayerNormalization", same_as_first_input},
    {kOurs, "LightningAttention", recurrence},
    {kOurs, "MergeNeighbours", merge_neighbours},
    {kOurs, "MergeTokens", same_as_first_input},
    {kOurs, "MixResiduals", same_as_first_input},
    {kOurs, "MixStreams", slice_layer},
    {kOurs, "PadTokens", pad_tokens},
    {kOurs, "PoolNeighbours", pool_neighbours},
    {kOurs, "PoolTokens", pool_tokens},
    {kOurs, "PrependTokens", prepend_tokens},
    {kOurs, "QuantizedGather", quantized_gather},
    {kOurs, "QuantizedMatMul", quantized_matmul},
    {kOurs, "RMSNormalization", same_as_first_input},
    {kOurs, "RelativeScores", relative_scores},
    {kOurs, "RepeatTokens", repeat_tokens},
    {kOurs, "Reshape", reshape},
    {kOurs, "RotaryEmbedding", same_as_first_input},
    {kOurs, "Route", route},
    {kOurs, "SharedAttention", attention},
    {kOurs, "Similarity", similarity},
    {kOurs, "SliceLayer", slice_layer},
    {kOurs, "SparseIndexer", sparse_indexer},
    {kOurs, "Scale", same_as_first_input},
    {kOurs, "SelectiveScan", recurrence},
    {kOurs, "SpreadStreams", same_as_first_input},
    {kOurs, "TimeMix", recurrence},
    {kOurs, "TakeChannels", take_channels},
    {kOurs, "TimestepEmbedding", timestep_embedding},
    {kOurs, "ToSquareGrid", to_square_grid},
    {kOurs, "TokensLike", tokens_like},
    {kOurs, "TokensToGrid", tokens_to_grid},
    {kOurs, "Upsample", upsample},
    {kOurs, "UpsampleLike", upsample_like},
};

}  // namespace

ShapeRuleFamily kcharter_shape_rules() { return kEntries; }

}  // namespace kcharter
