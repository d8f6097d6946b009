// What com.microsoft has beside attention: generation, mixtures of experts, training.
#include <algorithm>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// input_ids, max_length, min_length, num_beams, num_return_sequences →
// sequences [batch, returned, max_length], scores of the sequences, scores of every step.
void beam_search(NodeInference& node) {
  const Dim batch = node.input_dim(0, 0);
  const Dim length = integer(node.scalar(1));
  const Dim beams = integer(node.scalar(3));
  const Dim returned = integer(node.scalar(4));
  const auto vocabulary = int_attribute(node.node, "vocab_size", 0);
  node.set(0, DType::kInt32, Shape{batch, returned, length});
  node.set(1, DType::kF32, Shape{batch, returned});
  node.set(2, DType::kF32,
           Shape{minus(length, node.input_dim(0, 1)), batch, beams,
                 vocabulary > 0 ? Dim(Expr(vocabulary)) : std::nullopt});
}

// GreedySearch and Sampling return one sequence for each input.
void greedy_search(NodeInference& node) {
  node.set(0, DType::kInt32, Shape{node.input_dim(0, 0), integer(node.scalar(1))});
}

// data [rows, stored], indices, scales: several numbers share a byte of the quantized axis.
void gather_block_quantized(NodeInference& node) {
  const Shape* data = node.input_shape(0);
  const Shape* indices = node.input_shape(1);
  const DType dtype = node.input_dtype(2);
  if (data == nullptr || indices == nullptr || data->empty()) {
    return node.set(0, dtype, std::nullopt);
  }
  const size_t gathered = normalize_axis(int_attribute(node.node, "gather_axis", 0), data->size());
  const size_t last = data->size() - 1;
  Shape result(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(gathered));
  result.insert(result.end(), indices->begin(), indices->end());
  for (size_t i = gathered + 1; i < data->size(); ++i) {
    Dim size = (*data)[i];
    const int64_t bits = int_attribute(node.node, "bits", 4);
    const bool packed = i == last && node.input_dtype(0) == DType::kUInt8 && bits > 0 && bits < 8;
    result.push_back(packed ? times(size, Expr(8 / bits)) : size);
  }
  node.set(0, dtype, std::move(result));
}

// A gradient has the shape of what it is the gradient of.
void like_second(NodeInference& node) {
  node.set(0, node.input(1).shape ? node.input(1) : node.input(0));
}

// dY, X, scale, mean, inverse deviation → dX, dscale, dbias.
void layer_normalization_grad(NodeInference& node) {
  node.set(0, node.input(1));
  node.set(1, node.input(2));
  node.set(2, node.input(2));
}

// dY, log_prob, label …
void loss_grad(NodeInference& node) {
  const DType asked = dtype_of_onnx(int_attribute(node.node, "output_type", 0));
  node.set(0, asked == DType::kUnknown ? node.input_dtype(1) : asked, node.input(1).shape);
}

// Gradients enter the graph here, one for each value that left it.
void yield_op(NodeInference& node) {
  for (size_t i = 0; i < node.output_count(); ++i) node.set(i, node.input(i));
}

// Shapes of a and b → the axes along which each was broadcast.
void broadcast_gradient_args(NodeInference& node) {
  const Elements* a = node.elements(0);
  const Elements* b = node.elements(1);
  node.set(0, DType::kInt64, Shape(1));
  node.set(1, DType::kInt64, Shape(1));
  if (a == nullptr || b == nullptr) return;
  const size_t rank = std::max(a->size(), b->size());
  Elements reduced[2];
  for (size_t i = 0; i < rank; ++i) {
    const auto size_of = [&](const Elements& sizes) {
      const size_t missing = rank - sizes.size();
      return i < missing ? Dim(Expr(1)) : integer(sizes[i - missing]);
    };
    const Dim sizes[2] = {size_of(*a), size_of(*b)};
    if (!sizes[0] || !sizes[1]) return;
    for (size_t side = 0; side < 2; ++side) {
      if (constant(sizes[side]) == 1)
        reduced[side].push_back(Element{Expr(static_cast<int64_t>(i))});
    }
  }
  for (size_t side = 0; side < 2; ++side) {
    node.set(side, DType::kInt64, Shape{Expr(static_cast<int64_t>(reduced[side].size()))});
    node.set_elements(side, reduced[side]);
  }
}

// dY, shape of the input, starts …
void slice_grad(NodeInference& node) {
  const Elements* shape = node.elements(1);
  std::optional<Shape> result;
  if (shape != nullptr) {
    result.emplace();
    for (const MaybeElement& size : *shape) result->push_back(integer(size));
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// The mask has a bit for each element, in words of 32.
void bitmask_dropout(NodeInference& node) {
  node.set(0, node.input(0));
  const Dim count =
      element_count(node.input(0)) ? Dim(*element_count(node.input(0))) : std::nullopt;
  node.set(1, DType::kUInt32, Shape{ceil_divided(count, 32)});
}

void in_place_accumulator(NodeInference& node) {
  node.set(0, DType::kBool, Shape{Expr(1)});
  node.set(1, node.input(0));
}

// dY, X, scale, inverse deviation → dX, dscale.
void simplified_normalization_grad(NodeInference& node) {
  node.set(0, node.input(1));
  node.set(1, node.input(2));
}

void same_as_second_input(NodeInference& node) { node.set(0, node.input(1)); }

void is_finite(NodeInference& node) { node.set(0, DType::kBool, node.input(0).shape); }

void quantize_with_order(NodeInference& node) { node.set(0, DType::kInt8, node.input(0).shape); }

void dequantize_with_order(NodeInference& node) {
  const DType asked = dtype_of_onnx(int_attribute(node.node, "to", 1));
  node.set(0, asked, node.input(0).shape);
}

// A [.., M, K], scale, B [K, N]: B is one matrix.
void ordered_matmul(NodeInference& node) {
  const Shape* left = node.input_shape(0);
  if (left == nullptr || left->empty()) return node.set(0, DType::kInt8, std::nullopt);
  Shape result = *left;
  result.back() = node.input_dim(2, -1);
  node.set(0, DType::kInt8, std::move(result));
}

// The width is that of the value's projection.
void ordered_attention(NodeInference& node) {
  node.set(0, DType::kInt8,
           Shape{node.input_dim(0, 0), node.input_dim(0, 1), node.input_dim(7, -1)});
}

constexpr ShapeRuleEntry kEntries[] = {
    {kMicrosoft, "AllReduce", same_as_first_input},
    {kMicrosoft, "BatchNormalizationGrad", like_second},
    {kMicrosoft, "BeamSearch", beam_search},
    {kMicrosoft, "BiasDropout", same_as_first_input},
    {kMicrosoft, "BiasFastGeluGrad_dX", like_second},
    {kMicrosoft, "BiasGeluGrad_dX", like_second},
    {kMicrosoft, "BitmaskBiasDropout", bitmask_dropout},
    {kMicrosoft, "BitmaskDropout", bitmask_dropout},
    {kMicrosoft, "BitmaskDropoutGrad", same_as_first_input},
    {kMicrosoft, "BroadcastGradientArgs", broadcast_gradient_args},
    {kMicrosoft, "DropoutGrad", same_as_first_input},
    {kMicrosoft, "DequantizeWithOrder", dequantize_with_order},
    {kMicrosoft, "FakeQuant", same_as_first_input},
    {kMicrosoft, "FakeQuantGrad", same_as_first_input},
    {kMicrosoft, "FastGeluGrad", like_second},
    {kMicrosoft, "GatherBlockQuantized", gather_block_quantized},
    {kMicrosoft, "GeluGrad", like_second},
    {kMicrosoft, "GreedySearch", greedy_search},
    {kMicrosoft, "InPlaceAccumulatorV2", in_place_accumulator},
    {kMicrosoft, "Inverse", same_as_first_input},
    {kMicrosoft, "IsFinite", is_finite},
    {kMicrosoft, "LayerNormalizationGrad", layer_normalization_grad},
    {kMicrosoft, "LeakyReluGrad", like_second},
    {kMicrosoft, "LogSoftmaxGrad", like_second},
    {kMicrosoft, "LogSoftmaxGrad_13", like_second},
    {kMicrosoft, "MoE", same_as_first_input},
    {kMicrosoft, "NGramRepeatBlock", same_as_second_input},
    {kMicrosoft, "NcclAllReduce", same_as_first_input},
    {kMicrosoft, "PassThrough", same_as_first_input},
    {kMicrosoft, "QMoE", same_as_first_input},
    {kMicrosoft, "QOrderedAttention", ordered_attention},
    {kMicrosoft, "QOrderedGelu", same_as_first_input},
    {kMicrosoft, "QOrderedLayerNormalization", same_as_first_input},
    {kMicrosoft, "QOrderedMatMul", ordered_matmul},
    {kMicrosoft, "QuantizeWithOrder", quantize_with_order},
    {kMicrosoft, "QuickGeluGrad", like_second},
    {kMicrosoft, "ReluGrad", like_second},
    {kMicrosoft, "Sampling", greedy_search},
    {kMicrosoft, "SigmoidGrad", like_second},
    {kMicrosoft, "SimplifiedLayerNormalizationGrad", simplified_normalization_grad},
    {kMicrosoft, "SliceGrad", slice_grad},
    {kMicrosoft, "SoftmaxCrossEntropyLossGrad", loss_grad},
    {kMicrosoft, "SoftmaxCrossEntropyLossInternalGrad", loss_grad},
    {kMicrosoft, "SoftmaxGrad", like_second},
    {kMicrosoft, "SoftmaxGrad_13", like_second},
    {kMicrosoft, "SoftmaxDropoutGrad", same_as_first_input},
    {kMicrosoft, "TanhGrad", like_second},
    {kMicrosoft, "WhisperBeamSearch", beam_search},
    {kMicrosoft, "YieldOp", yield_op},
};

}  // namespace

ShapeRuleFamily microsoft_shape_rules() { return kEntries; }

}  // namespace kcharter
