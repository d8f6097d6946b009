// WeightFormats: how a model's matrices are stored in a what-if, where they need not all be alike.
//
//   "q4_0"                 every matrix
//   "fp8,lm_head=bf16"     the head, and a table tied to it, apart
//   "q4_k_m"               a mixture of ggml: formats by part as its quantizer chooses them
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kcharter/model/element_format.h"

namespace kcharter {

struct WeightFormats {
  std::optional<ElementFormat> all;
  // A module's name → its format, "down_proj", "lm_head": the first that is in a path wins.
  std::vector<std::pair<std::string, ElementFormat>> parts;

  bool empty() const { return !all && parts.empty(); }
  // Of the matrix at `path` ("model.layers.0.mlp.down_proj.weight"); nullptr: as it is.
  const ElementFormat* of(std::string_view path) const;
};

// What runtimes quantize activations to for products with weights in the format, and so the units that
// these run in; kUnknown: they widen the weights instead.
DType computed_in(const ElementFormat& format);

// nullopt: not of this form. Mixtures: src/llama-quant.cpp of ggml-org/llama.cpp; where it gives
// half of the layers more bits, each has the mean.
std::optional<WeightFormats> parse_weight_formats(std::string_view text);

}  // namespace kcharter
