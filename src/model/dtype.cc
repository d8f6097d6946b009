#include "kcharter/model/dtype.h"

#include <array>
#include <string>

namespace kcharter {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int bits;
  // Other names, lower case, without "torch." and without '_' and '-'.
  std::array<std::string_view, 3> aliases;
};

constexpr Row kRows[] = {
    {DType::kUnknown, "unknown", 0, {}},
    {DType::kF64, "f64", 64, {"float64", "double", "fp64"}},
    {DType::kF32, "f32", 32, {"float32", "float", "fp32"}},
    {DType::kF16, "f16", 16, {"float16", "half", "fp16"}},
    {DType::kBF16, "bf16", 16, {"bfloat16"}},
    {DType::kF8E4M3FN, "f8e4m3fn", 8, {"f8e4m3", "float8e4m3fn", "fp8e4m3"}},
    {DType::kF8E4M3FNUZ, "f8e4m3fnuz", 8, {"float8e4m3fnuz"}},
    {DType::kF8E5M2, "f8e5m2", 8, {"float8e5m2", "fp8e5m2"}},
    {DType::kF8E5M2FNUZ, "f8e5m2fnuz", 8, {"float8e5m2fnuz"}},
    {DType::kF8E8M0, "f8e8m0", 8, {"float8e8m0fnu", "float8e8m0", "f8e8m0fnu"}},
    {DType::kF6E2M3, "f6e2m3", 6, {"float6e2m3", "float6e2m3fn"}},
    {DType::kF6E3M2, "f6e3m2", 6, {"float6e3m2", "float6e3m2fn"}},
    {DType::kF4E2M1, "f4e2m1", 4, {"float4e2m1", "f4", "fp4"}},
    {DType::kInt64, "int64", 64, {"i64", "long"}},
    {DType::kInt32, "int32", 32, {"i32", "int"}},
    {DType::kInt16, "int16", 16, {"i16", "short"}},
    {DType::kInt8, "int8", 8, {"i8"}},
    {DType::kInt4, "int4", 4, {"i4"}},
    {DType::kInt2, "int2", 2, {"i2"}},
    {DType::kUInt64, "uint64", 64, {"u64"}},
    {DType::kUInt32, "uint32", 32, {"u32"}},
    {DType::kUInt16, "uint16", 16, {"u16"}},
    {DType::kUInt8, "uint8", 8, {"u8"}},
    {DType::kUInt4, "uint4", 4, {"u4"}},
    {DType::kUInt2, "uint2", 2, {"u2"}},
    {DType::kBool, "bool", 8, {}},
    {DType::kString, "string", 0, {}},
    {DType::kComplex64, "complex64", 64, {"c64", "cfloat"}},
    {DType::kComplex128, "complex128", 128, {"c128", "cdouble"}},
};

constexpr bool in_order() {
  size_t index = 0;
  for (const Row& row : kRows) {
    if (static_cast<size_t>(row.dtype) != index++) return false;
  }
  return index == static_cast<size_t>(DType::kComplex128) + 1;
}
static_assert(in_order(), "a row per dtype, in the order of the enumerators");

const Row& row_of(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return row_of(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  constexpr std::string_view kTorch = "torch.";
  if (text.starts_with(kTorch)) text.remove_prefix(kTorch.size());
  std::string folded;
  for (const char c : text) {
    if (c == '_' || c == '-') continue;
    folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (folded.empty()) return std::nullopt;
  for (const Row& row : kRows) {
    if (folded == row.name) return row.dtype;
    for (const std::string_view alias : row.aliases) {
      if (folded == alias) return row.dtype;
    }
  }
  return std::nullopt;
}

int bits(DType dtype) { return row_of(dtype).bits; }

bool is_float(DType dtype) { return dtype >= DType::kF64 && dtype <= DType::kF4E2M1; }

bool is_integer(DType dtype) { return dtype >= DType::kInt64 && dtype <= DType::kUInt2; }

Expr byte_size(const Expr& elements, DType dtype) {
  const int size = bits(dtype);
  return size % 8 == 0 ? elements * Expr(size / 8) : ceil_div(elements * Expr(size), 8);
}

}  // namespace kcharter
