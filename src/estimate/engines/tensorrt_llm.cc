// TensorRT-LLM: tensorrt_llm/_torch/pyexecutor/resource_manager.py.
#include "estimate/engines/rule.h"

namespace kcharter {

void allocate_as_tensorrt_llm(const EngineOptions& options, Model& model) {
  const int64_t block = options.integer("tokens_per_block", 1);
  for (Cache& cache : model.graph.caches) {
    const CacheLayout layout = layout_of(model.graph, cache);
    const Expr length = Expr::variable(kMaxLength);
    if (layout.kind == CacheLayout::Kind::kWindow || layout.kind == CacheLayout::Kind::kChunk) {
      set_positions(cache, round_up(min(length, Expr(layout.span)), block));
    } else if (layout.grows()) {
      set_length(cache, round_up(length, block));
    } else if (layout.kind == CacheLayout::Kind::kCross) {
      round_up_encoded(cache, block);
    }
  }
}

}  // namespace kcharter
