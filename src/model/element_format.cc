#include "kcharter/model/element_format.h"

namespace kcharter {
namespace {

struct Row {
  std::string_view name;
  int64_t block_elements;
  int64_t block_bytes;
};

// Block sizes of ggml: a half-precision scale (two for q4_1, q5_1), high bits, then the elements.
constexpr Row kBlocks[] = {
    {"fp8", 1, 1},     {"nvfp4", 16, 9}, {"mxfp4", 32, 17},  {"mxfp6", 32, 25},
    {"mxfp8", 32, 33}, {"q8_0", 32, 34}, {"q5_1", 32, 24},   {"q5_0", 32, 22},
    {"q4_1", 32, 20},  {"q4_0", 32, 18}, {"iq4_nl", 32, 18}, {"iq4_xs", 256, 136},
    {"q2_k", 256, 84}, {"q3_k", 256, 110}, {"q4_k", 256, 144}, {"q5_k", 256, 176},
    {"q6_k", 256, 210},
};

}  // namespace

std::optional<ElementFormat> parse_element_format(std::string_view text) {
  for (const Row& row : kBlocks) {
    if (text == row.name)
      return ElementFormat{std::string(row.name), row.block_elements, row.block_bytes};
  }
  const std::optional<DType> dtype = parse_dtype(text);
  if (!dtype || bits(*dtype) == 0) return std::nullopt;
  return element_format(*dtype);
}

ElementFormat element_format(DType dtype) {
  ElementFormat format;
  format.name = name(dtype);
  // The smallest block of whole bytes: two 4-bit elements in one, four 6-bit elements in three.
  while (bits(dtype) * format.block_elements % 8 != 0) ++format.block_elements;
  format.block_bytes = bits(dtype) * format.block_elements / 8;
  return format;
}

Expr byte_size(const Expr& elements, const ElementFormat& format) {
  return ceil_div(elements, format.block_elements) * format.block_bytes;
}

}  // namespace kcharter
