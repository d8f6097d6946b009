// TensorType: what is known of a value: element type and shape, each dimension an Expr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/model/dtype.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

// A dimension that is not known is nullopt: unknown is a value.
using Dim = std::optional<Expr>;
using Shape = std::vector<Dim>;

enum class TypeKind : uint8_t { kTensor, kSequence, kOptional, kMap, kSparseTensor, kOpaque };

struct TensorType {
  DType dtype = DType::kUnknown;
  std::optional<Shape> shape;  // nullopt: rank unknown
  TypeKind kind = TypeKind::kTensor;  // for kSequence and kOptional dtype and shape are the element's
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// Every dimension known.
bool fully_known(const TensorType& type);
// The product of the dimensions; nullopt where one is unknown or the value is not a tensor.
std::optional<Expr> element_count(const TensorType& type);
std::optional<Expr> byte_size(const TensorType& type);
// "[batch_size, 1, 2048] bf16", "[?, 3] int64", "? f32".
std::string to_string(const TensorType& type);
Shape shape_of(const std::vector<int64_t>& dims);

}  // namespace kcharter
