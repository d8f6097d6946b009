// MLX-LM: mlx_lm/models/cache.py (KVCache, RotatingKVCache, ChunkedKVCache, QuantizedKVCache,
// ArraysCache).
#include "estimate/engines/rule.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

using Kind = CacheLayout::Kind;

// Elements of a group, then a scale and a bias in half precision.
std::optional<ElementFormat> quantized(const EngineOptions& options) {
  const int64_t bits = options.integer("kv_bits", 0);
  const int64_t group = options.integer("kv_group_size", 1);
  if (bits == 0) return std::nullopt;
  if (bits > 8 || group > 4096 || bits * group % 8 != 0) {
    throw UsageError("--engine-option kv_bits: " + std::to_string(bits) + " bits in groups of " +
                     std::to_string(group) + " make no whole bytes");
  }
  return ElementFormat{"q" + std::to_string(bits), group, bits * group / 8 + 4};
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
