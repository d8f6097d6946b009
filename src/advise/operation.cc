#include "advise/operation.h"

#include <string_view>
#include <unordered_map>

namespace kcharter {
namespace {

using enum Operation;

const std::unordered_map<std::string_view, Operation>& operations() {
  static const std::unordered_map<std::string_view, Operation> kNames = {
      {"MatMul", kMatMul},
      {"FusedMatMul", kMatMul},
      {"Gemm", kMatMul},
      {"MatMulNBits", kPacked},
      {"MatMulBnb4", kPacked},
      {"MatMulFpQ4", kPacked},
      {"QuantizedMatMul", kPacked},
      {"Einsum", kEinsum},
      {"Softmax", kSoftmax},
      {"Transpose", kTranspose},
      {"Concat", kConcat},
      {"Expand", kExpand},
      {"Tile", kExpand},
      {"Gather", kGather},
      {"GatherBlockQuantized", kGather},
      {"QuantizedGather", kGather},
      {"Slice", kSlice},
      {"LastToken", kSlice},
      {"FirstToken", kSlice},
      {"Cast", kCast},
      {"CastLike", kCast},
      {"QuantizeLinear", kQuantize},
      {"DequantizeLinear", kDequantize},
      {"ReduceMean", kReduceMean},
      {"MaxPool", kMaxPool},
      {"LayerNormalization", kNorm},
      {"RMSNormalization", kNorm},
      {"SimplifiedLayerNormalization", kNorm},
      {"Attention", kAttention},
      {"MultiHeadAttention", kAttention},
      {"GroupQueryAttention", kAttention},
      {"CrossAttention", kAttention},
      {"SharedAttention", kAttention},
      {"LatentAttention", kAttention},
      {"SparseAttention", kAttention},
      {"PagedAttention", kAttention},
      {"DecoderMaskedMultiHeadAttention", kAttention},
      {"FlexAttention", kAttention},
      {"Add", kAdd},
      {"Sub", kSub},
      {"Mul", kMul},
      {"Div", kDiv},
      {"Pow", kPow},
      {"Sqrt", kSqrt},
      {"Reciprocal", kReciprocal},
      {"Where", kWhere},
      {"Sigmoid", kSigmoid},
      {"Erf", kErf},
      {"Tanh", kTanh},
      {"Gelu", kActivation},
      {"Swish", kActivation},
      {"Relu", kActivation},
      {"FastGelu", kActivation},
      {"QuickGelu", kActivation},
      {"BiasGelu", kActivation},
      {"LeakyRelu", kActivation},
      {"Elu", kActivation},
      {"HardSwish", kActivation},
      {"Mish", kActivation},
      {"Softplus", kActivation},
      {"HardSigmoid", kActivation},
      {"Abs", kElementwise},
      {"Ceil", kElementwise},
      {"Clip", kElementwise},
      {"Cos", kElementwise},
      {"Exp", kElementwise},
      {"Floor", kElementwise},
      {"Log", kElementwise},
      {"Max", kElementwise},
      {"Min", kElementwise},
      {"Neg", kElementwise},
      {"Not", kElementwise},
      {"And", kElementwise},
      {"Or", kElementwise},
      {"Round", kElementwise},
      {"Scale", kElementwise},
      {"Sign", kElementwise},
      {"Sin", kElementwise},
      {"Equal", kElementwise},
      {"Greater", kElementwise},
      {"GreaterOrEqual", kElementwise},
      {"Less", kElementwise},
      {"LessOrEqual", kElementwise},
  };
  return kNames;
}

}  // namespace

Operation operation_of(const Node& node) {
  const auto known = operations().find(node.op_type);
  return known == operations().end() ? kOther : known->second;
}

}  // namespace kcharter
