#include "import/onnx/literal.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kcharter/base/integer.h"

namespace kcharter {
namespace {

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

double bfloat_to_double(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

template <typename T>
T load(std::string_view raw, size_t index) {
  T value;
  std::memcpy(&value, raw.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Element `index` of a raw little-endian payload that is long enough.
int64_t raw_integer(std::string_view raw, DType dtype, size_t index) {
  switch (dtype) {
    case DType::kInt64:
      return load<int64_t>(raw, index);
    case DType::kUInt64:
      return static_cast<int64_t>(load<uint64_t>(raw, index));
    case DType::kInt32:
      return load<int32_t>(raw, index);
    case DType::kUInt32:
      return load<uint32_t>(raw, index);
    case DType::kInt16:
      return load<int16_t>(raw, index);
    case DType::kUInt16:
      return load<uint16_t>(raw, index);
    case DType::kInt8:
      return load<int8_t>(raw, index);
    default:
      return load<uint8_t>(raw, index);
  }
}

double raw_float(std::string_view raw, DType dtype, size_t index) {
  switch (dtype) {
    case DType::kF64:
      return load<double>(raw, index);
    case DType::kF32:
      return load<float>(raw, index);
    case DType::kF16:
      return half_to_double(load<uint16_t>(raw, index));
    default:
      return bfloat_to_double(load<uint16_t>(raw, index));
  }
}

bool reads_as_integer(DType dtype) {
  return dtype == DType::kBool || (is_integer(dtype) && bits(dtype) >= 8);
}

bool reads_as_float(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 ||
         dtype == DType::kBF16;
}

// A value of int32_data, which holds half floats by their bits.
double float_of_int32(int64_t value, DType dtype) {
  const auto half = static_cast<uint16_t>(value);
  return dtype == DType::kF16 ? half_to_double(half) : bfloat_to_double(half);
}

void append_number(uint64_t bits_of, WireType type, DType dtype, Literal& literal) {
  if (!reads_as_float(dtype)) {
    literal.integers.push_back(static_cast<int64_t>(bits_of));
  } else if (type == WireType::kFixed32) {
    literal.floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits_of)));
  } else if (type == WireType::kFixed64) {
    literal.floats.push_back(std::bit_cast<double>(bits_of));
  } else {
    literal.floats.push_back(float_of_int32(static_cast<int64_t>(bits_of), dtype));
  }
}

size_t size_of(const Literal& literal) { return literal.integers.size() + literal.floats.size(); }

// The typed fields: numbers one by one or packed, in any number of pieces.
void read_typed(FileBytes message, size_t count, Literal& literal) {
  WireReader reader(message, {"TensorProto"});
  for (WireField field; reader.next(field) && size_of(literal) <= count;) {
    const bool fixed32 = field.number == 4;
    const bool fixed64 = field.number == 10;
    if (!fixed32 && !fixed64 && field.number != 5 && field.number != 7 && field.number != 11)
      continue;
    const WireType type =
        fixed32 ? WireType::kFixed32 : (fixed64 ? WireType::kFixed64 : WireType::kVarint);
    if (field.type != WireType::kBytes) {
      append_number(field.scalar, type, literal.dtype, literal);
    } else if (fixed32 || fixed64) {
      const std::string_view raw = field.payload.text;
      const size_t width = fixed32 ? 4 : 8;
      for (size_t i = 0; i < raw.size() / width && i <= count; ++i) {
        append_number(fixed32 ? load<uint32_t>(raw, i) : load<uint64_t>(raw, i), type,
                      literal.dtype, literal);
      }
    } else {
      PackedVarints packed(field.payload);
      for (uint64_t value; size_of(literal) <= count && packed.next(value);) {
        append_number(value, type, literal.dtype, literal);
      }
    }
  }
}

}  // namespace

std::optional<Literal> read_literal(const TensorView& tensor, FileBytes message) {
  Literal literal{
      .dtype = dtype_of(tensor.data_type), .dims = tensor.dims, .integers = {}, .floats = {}};
  const bool as_float = reads_as_float(literal.dtype);
  if (tensor.external || (!as_float && !reads_as_integer(literal.dtype))) return std::nullopt;
  const int64_t limit = as_float ? kMaxLiteralFloats : kMaxLiteralIntegers;
  int64_t count = 1;
  for (const int64_t dim : tensor.dims) {
    if (dim < 0 || dim > limit || count * dim > limit) return std::nullopt;
    count *= dim;
  }
  const auto wanted = static_cast<size_t>(count);
  if (tensor.field == PayloadField::kRaw) {
    const std::string_view raw = tensor.payload.text;
    if (raw.size() != wanted * static_cast<size_t>(bits(literal.dtype) / 8)) return std::nullopt;
    for (size_t i = 0; i < wanted; ++i) {
      if (as_float) {
        literal.floats.push_back(raw_float(raw, literal.dtype, i));
      } else {
        literal.integers.push_back(raw_integer(raw, literal.dtype, i));
      }
    }
  } else {
    read_typed(message, wanted, literal);
  }
  if (size_of(literal) != wanted) return std::nullopt;
  return literal;
}

}  // namespace kcharter
