#include "import/onnx/cache_operators.h"

#include <string_view>

#include "kcharter/model/domains.h"

namespace kcharter {
namespace {

struct CacheOperator {
  std::string_view domain;
  std::string_view op_type;
  uint32_t input;
  CachePassage passage;
};

// Inputs and outputs by the operators' own documentation: onnx/docs/Operators.md and onnxruntime's
// docs/ContribOperators.md.
constexpr CacheOperator kOperators[] = {
    {kOnnx, "Attention", 4, {CacheStep::kAttention, 1}},
    {kOnnx, "Attention", 5, {CacheStep::kAttention, 2}},
    {kMicrosoft, "GroupQueryAttention", 3, {CacheStep::kAttention, 1}},
    {kMicrosoft, "GroupQueryAttention", 4, {CacheStep::kAttention, 2}},
    {kMicrosoft, "SparseAttention", 3, {CacheStep::kAttention, 1}},
    {kMicrosoft, "SparseAttention", 4, {CacheStep::kAttention, 2}},
    {kMicrosoft, "PagedAttention", 3, {CacheStep::kAttention, 1}},
    {kMicrosoft, "PagedAttention", 4, {CacheStep::kAttention, 2}},
    {kMicrosoft, "MultiHeadAttention", 6, {CacheStep::kAttention, 1}},
    {kMicrosoft, "MultiHeadAttention", 7, {CacheStep::kAttention, 2}},
    {kMicrosoft, "DecoderMaskedMultiHeadAttention", 5, {CacheStep::kAttention, 1}},
    {kMicrosoft, "DecoderMaskedMultiHeadAttention", 6, {CacheStep::kAttention, 2}},
    {kMicrosoft, "DecoderMaskedSelfAttention", 4, {CacheStep::kAttention, 1}},
    {kMicrosoft, "DecoderAttention", 6, {CacheStep::kAttention, 1}},
    {kMicrosoft, "DecoderAttention", 7, {CacheStep::kAttention, 2}},
    {kMicrosoft, "Attention", 4, {CacheStep::kAttention, 1}},
    {kMicrosoft, "QAttention", 8, {CacheStep::kAttention, 1}},
    {kOnnx, "TensorScatter", 0, {CacheStep::kWrite}},
    {kOnnx, "ScatterND", 0, {CacheStep::kWrite}},
    {kOnnx, "ScatterElements", 0, {CacheStep::kWrite}},
    {kOnnx, "LSTM", 5, {CacheStep::kRecurrence, 1}},
    {kOnnx, "LSTM", 6, {CacheStep::kRecurrence, 2}},
    {kOnnx, "GRU", 5, {CacheStep::kRecurrence, 1}},
    {kOnnx, "RNN", 5, {CacheStep::kRecurrence, 1}},
    {kOnnx, "LinearAttention", 3, {CacheStep::kRecurrence, 1}},
    {kOnnx, "CausalConvWithState", 3, {CacheStep::kRecurrence, 1}},
    {kMicrosoft, "LinearAttention", 3, {CacheStep::kRecurrence, 1}},
    {kMicrosoft, "CausalConvWithState", 3, {CacheStep::kRecurrence, 1}},
    {kOnnx, "Identity", 0, {}},
    {kOnnx, "Cast", 0, {}},
    {kOnnx, "Reshape", 0, {}},
    {kOnnx, "Flatten", 0, {}},
    {kOnnx, "Transpose", 0, {}},
    {kOnnx, "Squeeze", 0, {}},
    {kOnnx, "Unsqueeze", 0, {}},
    {kOnnx, "QuantizeLinear", 0, {}},
    {kOnnx, "DequantizeLinear", 0, {}},
    {kOnnx, "Gather", 0, {}},
    {kOnnx, "Split", 0, {CacheStep::kMove, 0, true}},
    {kOnnx, "Slice", 0, {CacheStep::kCut}},
};

}  // namespace

std::optional<CachePassage> cache_passage(const Node& node, uint32_t input) {
  if (node.op_type == "Concat" && node.domain.empty()) return CachePassage{CacheStep::kExtend};
  if (node.op_type == "Loop" && input >= 2 && input - 2 < node.outputs.size()) {
    return CachePassage{CacheStep::kRecurrence, input - 2};
  }
  if (node.op_type == "Scan") {
    const auto states =
        static_cast<int64_t>(node.inputs.size()) - int_attribute(node, "num_scan_inputs", 0);
    if (input < states && input < node.outputs.size())
      return CachePassage{CacheStep::kRecurrence, input};
    return std::nullopt;
  }
  for (const CacheOperator& entry : kOperators) {
    if (entry.input == input && entry.op_type == node.op_type && entry.domain == node.domain) {
      return entry.passage;
    }
  }
  return std::nullopt;
}

bool reads_shape_only(const Node& node) {
  return node.op_type == "Shape" || node.op_type == "Size";
}

}  // namespace kcharter
