// DType: the element types of ONNX and safetensors under one set of names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

enum class DType : uint8_t {
  kUnknown,
  kF64, kF32, kF16, kBF16,
  kF8E4M3FN, kF8E4M3FNUZ, kF8E5M2, kF8E5M2FNUZ, kF8E8M0, kF6E2M3, kF6E3M2, kF4E2M1,
  kInt64, kInt32, kInt16, kInt8, kInt4, kInt2,
  kUInt64, kUInt32, kUInt16, kUInt8, kUInt4, kUInt2,
  kBool, kString, kComplex64, kComplex128,
};

// unknown, f64, f32, f16, bf16, f8e4m3fn, …, f4e2m1, int64, …, uint2, bool, string, complex64, complex128
std::string_view name(DType dtype);
// Takes the names above, safetensors' (BF16, F8_E4M3, I64 …), torch's (bfloat16, torch.float16 …).
std::optional<DType> parse_dtype(std::string_view text);

// Bits of one element; 0 for kUnknown and kString (strings have no size known from the shape).
int bits(DType dtype);
bool is_float(DType dtype);
bool is_integer(DType dtype);  // bool is not one

// Bytes of `elements` elements of `dtype` stored densely: ceil_div(elements*bits, 8).
Expr byte_size(const Expr& elements, DType dtype);

}  // namespace kcharter
