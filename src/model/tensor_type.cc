#include "kcharter/model/tensor_type.h"

#include <algorithm>

namespace kcharter {

bool fully_known(const TensorType& type) {
  return type.shape && std::all_of(type.shape->begin(), type.shape->end(),
                                   [](const Dim& dim) { return dim.has_value(); });
}

std::optional<Expr> element_count(const TensorType& type) {
  if (type.kind != TypeKind::kTensor || !fully_known(type)) return std::nullopt;
  Expr count(1);
  for (const Dim& dim : *type.shape) count *= *dim;
  return count;
}

std::optional<Expr> byte_size(const TensorType& type) {
  if (bits(type.dtype) == 0) return std::nullopt;
  const std::optional<Expr> count = element_count(type);
  if (!count) return std::nullopt;
  return byte_size(*count, type.dtype);
}

std::string to_string(const TensorType& type) {
  std::string text;
  if (!type.shape) {
    text = "?";
  } else {
    text = "[";
    for (const Dim& dim : *type.shape) {
      if (text.size() > 1) text += ", ";
      text += dim ? dim->to_string() : "?";
    }
    text += "]";
  }
  text += ' ';
  text += name(type.dtype);
  switch (type.kind) {
    case TypeKind::kTensor:
      return text;
    case TypeKind::kSequence:
      return "sequence of " + text;
    case TypeKind::kOptional:
      return "optional " + text;
    case TypeKind::kMap:
      return "map";
    case TypeKind::kSparseTensor:
      return "sparse " + text;
    case TypeKind::kOpaque:
      return "opaque";
  }
  return text;
}

Shape shape_of(const std::vector<int64_t>& dims) {
  Shape shape;
  shape.reserve(dims.size());
  for (const int64_t dim : dims) shape.emplace_back(Expr(dim));
  return shape;
}

}  // namespace kcharter
