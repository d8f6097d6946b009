#include "shape/dim_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "kcharter/ops/dims.h"

namespace kcharter {
namespace {

// Indexed by TensorProto.DataType (onnx.proto).
constexpr std::array kOnnxDTypes = {
    DType::kUnknown,    DType::kF32,   DType::kUInt8,    DType::kInt8,       DType::kUInt16,
    DType::kInt16,      DType::kInt32, DType::kInt64,    DType::kString,     DType::kBool,
    DType::kF16,        DType::kF64,   DType::kUInt32,   DType::kUInt64,     DType::kComplex64,
    DType::kComplex128, DType::kBF16,  DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
    DType::kF8E5M2FNUZ, DType::kUInt4, DType::kInt4,     DType::kF4E2M1,     DType::kF8E8M0,
    DType::kUInt2,      DType::kInt2,  DType::kF6E2M3,   DType::kF6E3M2,
};

// Whether `whole` is `part` held down by a limit: min(1024, n) and n.
bool is_capped(const Expr& whole, const Expr& part) {
  return !(whole - part).is_constant() && min(whole, part) == whole;
}

}  // namespace

size_t normalize_axis(int64_t axis, size_t rank) {
  const int64_t count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) {
    throw Error("axis " + std::to_string(axis) + " does not exist in a tensor of rank " +
                std::to_string(rank));
  }
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

std::vector<size_t> normalize_axes(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<size_t> result;
  std::vector<bool> seen(rank, false);
  for (const int64_t axis : axes) {
    const size_t normal = normalize_axis(axis, rank);
    if (seen[normal]) throw Error("axis " + std::to_string(axis) + " is named twice");
    seen[normal] = true;
    result.push_back(normal);
  }
  return result;
}

Dim broadcast(const NodeInference& node, const Dim& a, const Dim& b) {
  if (a == b) return a;
  const auto one = constant(a);
  const auto other = constant(b);
  if (one == 1) return b;
  if (other == 1) return a;
  if (one && other) {
    throw Error("dimensions " + std::to_string(*one) + " and " + std::to_string(*other) +
                " cannot be broadcast together");
  }
  // A dimension that is known not to be 1 wins: the other is 1 or equal to it.
  if (one || node.at_least(a, 2)) return a;
  if (other || node.at_least(b, 2)) return b;
  if (!a || !b) return std::nullopt;
  const bool a_is_capped = is_capped(*a, *b);
  if (a_is_capped || is_capped(*b, *a)) {
    const Expr& free = a_is_capped ? *b : *a;
    const Expr& capped = a_is_capped ? *a : *b;
    node.note("assumed-limit",
              "the graph works only where " + free.to_string() + " equals " + capped.to_string());
    return free;
  }
  node.note("assumed-broadcast",
            a->to_string() + " and " + b->to_string() + " are taken to be equal or one of them 1");
  return max(*a, *b);
}

std::optional<Shape> broadcast(const NodeInference& node, const Shape* a, const Shape* b) {
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (a->size() < b->size()) std::swap(a, b);
  Shape result = *a;
  const size_t offset = a->size() - b->size();
  for (size_t i = 0; i < b->size(); ++i) {
    result[offset + i] = broadcast(node, (*a)[offset + i], (*b)[i]);
  }
  return result;
}

std::optional<Shape> broadcast_inputs(const NodeInference& node, size_t first, size_t last) {
  const Shape* shape = node.input_shape(first);
  if (shape == nullptr) return std::nullopt;
  Shape result = *shape;
  for (size_t i = first + 1; i <= last; ++i) {
    auto next = broadcast(node, &result, node.input_shape(i));
    if (!next) return std::nullopt;
    result = std::move(*next);
  }
  return result;
}

Dim same(const NodeInference& node, const Dim& a, const Dim& b, std::string_view what) {
  if (!a) return b;
  if (!b || a == b) return a;
  const auto one = constant(a);
  const auto other = constant(b);
  if (one && other) {
    throw Error(std::string(what) + " differ: " + std::to_string(*one) + " and " +
                std::to_string(*other));
  }
  node.note("assumed-equal", std::string(what) + " are taken to be equal: " + a->to_string() +
                                 " and " + b->to_string());
  return other ? b : a;
}

void check_same(const NodeInference& node, const Dim& a, const Dim& b, std::string_view what) {
  try {
    same(node, a, b, what);
  } catch (const Error& error) {
    node.warn("shape-contradiction", error.what());
  }
}

std::optional<Shape> without_axis(const std::optional<Shape>& shape, int64_t axis) {
  if (!shape) return std::nullopt;
  Shape result = *shape;
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(normalize_axis(axis, result.size())));
  return result;
}

std::optional<Shape> with_axis(const std::optional<Shape>& shape, int64_t axis, const Dim& dim) {
  if (!shape) return std::nullopt;
  const size_t at = normalize_axis(axis, shape->size() + 1);
  Shape result(shape->size() + 1);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = i == at ? dim : (*shape)[i < at ? i : i - 1];
  }
  return result;
}

Dim minus(const Dim& a, const Dim& b) {
  if (!a || !b) return std::nullopt;
  return *a - *b;
}

Dim floor_divided(const Dim& a, int64_t divisor) {
  if (!a || divisor <= 0) return std::nullopt;
  return divisor == 1 ? *a : floor_div(*a, divisor);
}

Dim ceil_divided(const Dim& a, int64_t divisor) {
  if (!a || divisor <= 0) return std::nullopt;
  return divisor == 1 ? *a : ceil_div(*a, divisor);
}

DType first_dtype(const NodeInference& node, std::initializer_list<size_t> inputs) {
  for (const size_t input : inputs) {
    if (node.input_dtype(input) != DType::kUnknown) return node.input_dtype(input);
  }
  return DType::kUnknown;
}

DType dtype_of_onnx(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kOnnxDTypes.size())) return DType::kUnknown;
  return kOnnxDTypes[static_cast<size_t>(number)];
}

int64_t onnx_number(DType dtype) {
  const auto found = std::find(kOnnxDTypes.begin(), kOnnxDTypes.end(), dtype);
  return found == kOnnxDTypes.end() ? 0 : found - kOnnxDTypes.begin();
}

void same_as_first_input(NodeInference& node) { node.set(0, node.input(0)); }

}  // namespace kcharter
