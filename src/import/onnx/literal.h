// The numbers of a small tensor, read from its message. Large ones are never read.
#pragma once

#include <cstdint>
#include <optional>

#include "import/onnx/model_view.h"
#include "kcharter/model/graph.h"

namespace kcharter {

// Integer tensors steer shapes (axes, sizes, indices), floats only scale and compare.
inline constexpr int64_t kMaxLiteralIntegers = 4096;
inline constexpr int64_t kMaxLiteralFloats = 64;

// `tensor` is the view of `message`. Nothing where the tensor is large, external, of another type
// (strings, complex, sub-byte floats), or holds another number of elements than its dims say.
std::optional<Literal> read_literal(const TensorView& tensor, FileBytes message);

}  // namespace kcharter
