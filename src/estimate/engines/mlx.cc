// MLX-LM: mlx_lm/models/cache.py (KVCache, RotatingKVCache, ChunkedKVCache, QuantizedKVCache,
// ArraysCache).
#include "estimate/engines/rule.h"

namespace kcharter {
namespace {

using Kind = CacheLayout::Kind;

std::optional<ElementFormat> quantized(const EngineOptions& options) {
  const int64_t bits = options.integer("kv_bits", 0);
  if (bits == 0) return std::nullopt;
  return grouped_format("kv_bits", bits, options.integer("kv_group_size", 1));
}

}  // namespace

void allocate_as_mlx(const EngineOptions& options, Model& model) {
  const int64_t step = options.integer("step", 1);
  const std::optional<ElementFormat> format = quantized(options);
  for (Cache& cache : model.graph.caches) {
    const CacheLayout layout = layout_of(model.graph, cache);
    if (layout.kind == Kind::kFull || layout.kind == Kind::kLatent || layout.kind == Kind::kIndex) {
      set_length(cache, round_up(Expr::variable(kMaxLength), step));
    }
    if (layout.kind == Kind::kFull && format) cache.format = *format;
    // Index keys stay in the model's type.
    if (layout.kind == Kind::kIndex) cache.format = options.kv_format().value_or(element_format(DType::kBF16));
  }
}

}  // namespace kcharter
