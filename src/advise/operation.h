// Operation: an operator as the patterns see it: standard and contributed spellings of one thing
// under one name.
#pragma once

#include <cstdint>

#include "kcharter/model/graph.h"

namespace kcharter {

enum class Operation : uint8_t {
  kOther,
  kMatMul,  // MatMul, FusedMatMul, Gemm
  kPacked,  // a product with a packed weight: MatMulNBits
  kEinsum,
  kSoftmax,
  kAttention,  // fused, of any domain
  kTranspose,
  kConcat,
  kExpand,  // Expand, Tile
  kGather,
  kSlice,
  kCast,
  kQuantize,
  kDequantize,
  kReduceMean,
  kNorm,  // a norm in one operator
  kMaxPool,
  // Elementwise from here on.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kSqrt,
  kReciprocal,
  kWhere,
  kSigmoid,
  kErf,
  kTanh,
  kActivation,
  kElementwise,
};

Operation operation_of(const Node& node);
// One output element for each element of its largest input, from those at the same place; casts
// are.
inline bool is_elementwise(Operation op) { return op >= Operation::kAdd || op == Operation::kCast; }
inline bool is_product(Operation op) {
  return op == Operation::kMatMul || op == Operation::kPacked;
}

}  // namespace kcharter
