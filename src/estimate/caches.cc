#include "kcharter/estimate/caches.h"

namespace kcharter {

std::optional<ElementFormat> common_kv_format(const Graph& graph) {
  std::optional<ElementFormat> common;
  for (const Cache& cache : graph.caches) {
    if (cache.kind == CacheKind::kState) continue;
    const ElementFormat& format = cache.format;
    if (format.block_bytes <= 0 || format.block_elements <= 0) return std::nullopt;
    if (common && (common->block_bytes != format.block_bytes ||
                   common->block_elements != format.block_elements)) {
      return std::nullopt;
    }
    common = format;
  }
  return common;
}

Expr cache_byte_size(const Expr& elements, const Cache& cache, bool kv_blocks) {
  if (!kv_blocks || cache.kind == CacheKind::kState) return byte_size(elements, cache.format);
  return ceil_div(elements, Expr::variable(kKvBlockElements)) * Expr::variable(kKvBlockBytes);
}

std::optional<Expr> allocated_elements(const Cache& cache) {
  if (!cache.allocated || cache.format.block_bytes == 0) return std::nullopt;
  try {
    Expr elements(1);
    for (const Expr& dim : *cache.allocated) elements *= dim;
    return elements;
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

std::optional<Expr> allocated_bytes(const Cache& cache, bool kv_blocks) {
  const std::optional<Expr> elements = allocated_elements(cache);
  return elements ? std::optional(cache_byte_size(*elements, cache, kv_blocks)) : std::nullopt;
}

std::optional<Expr> copied_elements(const Graph& graph, const Cache& cache) {
  if (!cache.copied || !cache.input || !cache.output) return Expr(0);
  try {
    const Dim past = element_count(graph[cache.input].type);
    if (past && past->is_zero()) return Expr(0);  // nothing was there to be copied
    if (cache.format.block_bytes == 0) return std::nullopt;
    return element_count(graph[cache.output].type);
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

Quantity cache_quantity(const std::optional<Expr>& elements, const Cache& cache, bool kv_blocks,
                        Source source) {
  if (!elements) return unknown_quantity();
  if (elements->is_zero()) return {};
  return {cache_byte_size(*elements, cache, kv_blocks), Exactness::kExact, source};
}

Quantity copied_bytes(const Graph& graph, const Cache& cache, bool kv_blocks) {
  return cache_quantity(copied_elements(graph, cache), cache, kv_blocks, Source::kGraph);
}

std::vector<ModuleId> modules_of_caches(const Graph& graph, const ModuleTree& tree) {
  std::vector<ModuleId> modules(graph.caches.size(), ModuleId(0));
  for (uint32_t i = 0; i < tree.modules.size(); ++i) {
    for (uint32_t cache : tree.modules[i].caches) modules[cache] = ModuleId(i);
  }
  return modules;
}

}  // namespace kcharter
