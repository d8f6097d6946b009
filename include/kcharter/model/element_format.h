// ElementFormat: how numbers are stored in blocks, for what-if types of cache and weights that no
// DType has: q8_0 is 32 elements in 34 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kcharter/model/dtype.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

struct ElementFormat {
  std::string name;            // "bf16", "q8_0", "nvfp4"
  int64_t block_elements = 1;  // elements of one block
  int64_t block_bytes = 0;     // bytes of one block, scales included
};

// bf16, f16, f32, fp8, int8, int4, nvfp4, mxfp4, mxfp8, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl and the
// names of parse_dtype. Blocks of ggml: ggml/src/ggml-common.h; mx: OCP Microscaling v1.0 §5;
// nvfp4: one e4m3 scale for 16 elements.
std::optional<ElementFormat> parse_element_format(std::string_view text);
ElementFormat element_format(DType dtype);

// ceil_div(elements, block_elements) * block_bytes.
Expr byte_size(const Expr& elements, const ElementFormat& format);

}  // namespace kcharter
