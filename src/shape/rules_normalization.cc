// Normalization, alone and fused with a residual sum.
#include <string>

#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// Y, and mean and inverse deviation over the axes from `axis` on.
void layer_normalization(NodeInference& node) {
  node.set(0, node.input(0));
  const Shape* shape = node.input_shape(0);
  std::optional<Shape> statistics;
  if (shape != nullptr) {
    statistics = *shape;
    const size_t axis = normalize_axis(int_attribute(node.node, "axis", -1), shape->size());
    for (size_t i = axis; i < shape->size(); ++i) (*statistics)[i] = Expr(1);
  }
  const DType dtype = dtype_of_onnx(int_attribute(node.node, "stash_type", 1));
  node.set(1, dtype, statistics);
  node.set(2, dtype, std::move(statistics));
}

void rms_normalization(NodeInference& node) {
  node.set(0, first_dtype(node, {1, 0}), node.input(0).shape);
}

// Outputs: normalized, mean, inverse deviation, sum of input, skip and bias.
void skip_normalization(NodeInference& node) {
  node.set(0, node.input(0));
  const Shape* shape = node.input_shape(0);
  std::optional<Shape> statistics;
  if (shape != nullptr && !shape->empty()) {
    statistics = *shape;
    statistics->back() = Expr(1);
  }
  node.set(1, DType::kF32, statistics);
  node.set(2, DType::kF32, std::move(statistics));
  node.set(3, node.input(0));
}

void batch_normalization(NodeInference& node) {
  node.set(0, node.input(0));
  for (size_t i = 1; i < node.output_count(); ++i) {
    node.set(i, first_dtype(node, {3, 1, 0}), Shape{node.input_dim(0, 1)});
  }
}

// The second output is the sum of input and skip.
void skip_group_norm(NodeInference& node) {
  node.set(0, node.input(0));
  node.set(1, node.input(0));
}

// input_ids, segment_ids, word, position and segment tables, gamma, beta, mask.
void embed_layer_normalization(NodeInference& node) {
  const Dim batch = node.input_dim(0, 0);
  const Shape embedded{batch, node.input_dim(0, 1), node.input_dim(2, 1)};
  const DType dtype = node.input_dtype(2);
  node.set(0, dtype, embedded);
  node.set(1, DType::kInt32, Shape{batch});
  node.set(2, dtype, embedded);
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "BatchNormalization", batch_normalization},
    {kOnnx, "GroupNormalization", same_as_first_input},
    {kOnnx, "InstanceNormalization", same_as_first_input},
    {kOnnx, "LRN", same_as_first_input},
    {kOnnx, "LayerNormalization", layer_normalization},
    {kOnnx, "LpNormalization", same_as_first_input},
    {kOnnx, "MeanVarianceNormalization", same_as_first_input},
    {kOnnx, "RMSNormalization", rms_normalization},
    {kOnnx, "SimplifiedLayerNormalization", layer_normalization},
    {kOnnx, "SkipLayerNormalization", skip_normalization},
    {kOnnx, "SkipSimplifiedLayerNormalization", skip_normalization},
    {kMicrosoft, "EmbedLayerNormalization", embed_layer_normalization},
    {kMicrosoft, "GroupNorm", same_as_first_input},
    {kMicrosoft, "LayerNormalization", layer_normalization},
    {kMicrosoft, "SimplifiedLayerNormalization", layer_normalization},
    {kMicrosoft, "SkipGroupNorm", skip_group_norm},
    {kMicrosoft, "SkipLayerNormalization", skip_normalization},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", skip_normalization},
};

}  // namespace

ShapeRuleFamily normalization_shape_rules() { return kEntries; }

}  // namespace kcharter
