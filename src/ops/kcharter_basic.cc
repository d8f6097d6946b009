// Our own operators that ONNX has no short word for: constants as attributes instead of inputs.
//
//   Reshape(x; shape)             0 keeps a dimension, -1 is the rest
//   Scale(x; factor)              x * factor
//   LastToken(x)                  [B, S, H] → [B, 1, H]
//   RotaryEmbedding(x; num_heads, head_dim, rotary_dim)   x [B, S, heads·head_dim]
//   RMSNormalization(x), LayerNormalization(x)            without learned scale
//   SliceLayer(x [B,S,count·size]; index, size)           [B, S, size], that of one layer
//   GridToTokens(x [B,C,H,W])                             [B, H·W, C]
//   TokensToGrid(x [B,H·W,C], grid [·,·,H,W])             [B, C, H, W]
//   ToSquareGrid(x [B,side²,C]; side)                     [B, C, side, side]
//   TakeChannels(x [B,C,H,W]; channels)                   [B, channels, H, W], the first
//   EmbedPoints(points [B,S,2], vectors …; size)          [B, S, size], sines plus a vector of its kind
//   Upsample(x [B,C,H,W]; factor)                         [B, C, H·factor, W·factor], nearest
//   UpsampleLike(x [B,C,h,w], grid [·,·,H,W])             [B, C, H, W]
//   PadTokens(x [B,S,H]; tokens)                          [B, tokens, H], zeros added or rows cut
//   TokensLike(x [B,S,H], y [B,T,·]; last)                [B, T, H], the first or last of x
//   RepeatTokens(rows [·,S,H], y [B,…])                   [B, S, H]
//   TimestepEmbedding(t [B]; size)                        [B, 1, size], sines and cosines
//   RelativeScores(q [B,S,heads·d], rows, columns; num_heads, rows, columns)
//                                                         [B, S, heads·(rows+columns)]
//   PrependTokens(x [B,S,H], tokens; count)               [B, S+count, H]
//   MergeNeighbours(x [B,S,H]; count)                     [B, S/count, H·count]
//   MergeTokens(x [B,S,H], y)                             x with y's tokens in the place of some
//   PoolTokens(x [B,S,H]; tokens)                         [B, tokens, H], averages
//   PoolNeighbours(x [B,S,H]; count)                      [B, S/count, H], averages
//   AddInterpolated(x [B,S,H], table)                     x plus rows interpolated from a table
//   AddPositions(x [B,S,H], table)                        x plus the table's first S rows
//   FirstToken(x)                                         [B, S, H] → [B, 1, H]
//   Similarity(a [B,1,H], b [C,1,H], scale; size)         [B, C]
#include "ops/common_work.h"

namespace kcharter {
namespace {

// Two multiply-adds for each pair of rotated elements, counted as three operations an element.
Work rotary_work(const Graph& graph, const Node& node) {
  int64_t heads = int_attribute(node, "num_heads", 0);
  int64_t rotated = int_attribute(node, "rotary_dim", 0);
  Dim rows = times(input_dim(graph, node, 0, 0), input_dim(graph, node, 0, 1));
  return {.elementwise_flops = times(rows, Expr(3) * Expr(heads) * Expr(rotated))};
}

// Only what is put in moves.
Work merge_tokens_work(const Graph& graph, const Node& node) {
  Dim image = input_elements(graph, node, 1);
  return {.read_elements = {Expr(0), image}, .written_elements = {image}};
}

// Four rows for each token, weighted.
Work interpolated_work(const Graph& graph, const Node& node) {
  Dim elements = output_elements(graph, node);
  return {.elementwise_flops = times(Expr(8), elements), .read_elements = {elements, times(Expr(4), elements)}};
}

Work positions_work(const Graph& graph, const Node& node) {
  Dim elements = output_elements(graph, node);
  Dim rows = times(input_dim(graph, node, 0, 1), input_dim(graph, node, 0, 2));
  return {.elementwise_flops = elements, .read_elements = {elements, rows}};
}

// The second operand is looked at for its shape alone.
Work rearranged_work(const Graph& graph, const Node& node) {
  return {.read_elements = {input_elements(graph, node, 0), Expr(0)}};
}

// Each query against one vector for every row and one for every column of its window.
Work relative_scores_work(const Graph& graph, const Node& node) {
  Expr sides(int_attribute(node, "rows", 0) + int_attribute(node, "columns", 0));
  return {.flops = times(2 * sides, input_elements(graph, node, 0))};
}

Work similarity_work(const Graph& graph, const Node& node) {
  Expr size(int_attribute(node, "size", 0));
  return {.flops = times(2 * size, output_elements(graph, node))};
}

}  // namespace

OperatorFamily kcharter_basic_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOurs, "Reshape", {.is_view = true}},
      {kOurs, "Scale", {}},
      {kOurs, "SliceLayer", {.work = reads_what_it_writes}},
      {kOurs, "GridToTokens", {.work = moves_data}},
      {kOurs, "PadTokens", {.work = moves_data}},
      {kOurs, "TokensLike", {.work = reads_what_it_writes}},
      {kOurs, "RepeatTokens", {.work = rearranged_work}},
      {kOurs, "TimestepEmbedding", {.work = per_output_element<2>}},
      {kOurs, "RelativeScores", {.work = relative_scores_work}},
      {kOurs, "TokensToGrid", {.work = rearranged_work}},
      {kOurs, "ToSquareGrid", {.work = moves_data}},
      {kOurs, "TakeChannels", {.work = reads_what_it_writes}},
      {kOurs, "EmbedPoints", {.work = per_output_element<5>}},
      {kOurs, "Upsample", {.work = moves_data}},
      {kOurs, "UpsampleLike", {.work = rearranged_work}},
      {kOurs, "PrependTokens", {.work = moves_data}},
      {kOurs, "MergeNeighbours", {.is_view = true}},
      {kOurs, "MergeTokens", {.work = merge_tokens_work}},
      {kOurs, "PoolTokens", {.work = per_input_element<1>}},
      {kOurs, "PoolNeighbours", {.work = per_input_element<1>}},
      {kOurs, "AddInterpolated", {.work = interpolated_work}},
      {kOurs, "AddPositions", {.work = positions_work}},
      {kOurs, "FirstToken", {.work = reads_what_it_writes}},
      {kOurs, "Similarity", {.work = similarity_work}},
      {kOurs, "LastToken", {.work = reads_what_it_writes}},
      {kOurs, "RotaryEmbedding", {.work = rotary_work}},
      {kOurs, "RMSNormalization", {.work = per_output_element<3>}},
      {kOurs, "LayerNormalization", {.work = per_output_element<5>}},
  };
  return kEntries;
}

}  // namespace kcharter
