#include "kcharter/estimate/caches.h"

namespace kcharter {
namespace {

Quantity bytes_of(const Dim& elements, const ElementFormat& format, Source source) {
  if (!elements || format.block_bytes == 0) return unknown_quantity();
  return {byte_size(*elements, format), Exactness::kExact, source};
}

}  // namespace

Quantity allocated_bytes(const Model& model, const Cache& cache) {
  if (!cache.allocated) return unknown_quantity();
  try {
    Expr elements(1);
    for (const Expr& dim : *cache.allocated) elements *= dim;
    return bytes_of(elements, cache.format,
                    model.format == Format::kOnnx ? Source::kGraph : Source::kConfig);
  } catch (const ArithmeticError&) {
    return unknown_quantity();
  }
}

Quantity copied_bytes(const Graph& graph, const Cache& cache) {
  if (!cache.copied || !cache.input || !cache.output) return {};
  try {
    Dim past = element_count(graph[cache.input].type);
    if (past && past->is_zero()) return {};  // nothing was there to be copied
    return bytes_of(element_count(graph[cache.output].type), cache.format, Source::kGraph);
  } catch (const ArithmeticError&) {
    return unknown_quantity();
  }
}

std::vector<ModuleId> modules_of_caches(const Graph& graph, const ModuleTree& tree) {
  std::vector<ModuleId> modules(graph.caches.size(), ModuleId(0));
  for (uint32_t i = 0; i < tree.modules.size(); ++i) {
    for (uint32_t cache : tree.modules[i].caches) modules[cache] = ModuleId(i);
  }
  return modules;
}

}  // namespace kcharter
