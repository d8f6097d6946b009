// SGLang: python/sglang/srt/mem_cache/memory_pool.py,
// model_executor/model_runner_kv_cache_mixin.py, configs/mamba_utils.py.
#include "estimate/engines/rule.h"

namespace kcharter {
namespace {

using Kind = CacheLayout::Kind;

// All sequences share one pool; its first page is padding. Windows have a pool of their own, a share
// of the full one whatever the window.
void allocate_pool(const EngineOptions& options, const CacheLayout& layout, Cache& cache) {
  const int64_t page = options.integer("page_size", 1);
  Expr tokens = Expr::variable(kBatchSize) * Expr::variable(kMaxLength);
  const bool windowed = layout.kind == Kind::kWindow || layout.kind == Kind::kChunk;
  if (windowed) {
    tokens = floor_div(options.millionths("swa_full_tokens_ratio") * tokens, Expr(1'000'000));
  }
  tokens = round_up(tokens, page) + page;
  set_streams(cache, layout, Expr(1));
  if (windowed) set_positions(cache, tokens);
  else set_length(cache, tokens);
}

}  // namespace

void allocate_as_sglang(const EngineOptions& options, Model& model) {
  const int64_t slots = options.integer("mamba_slots", 1);
  for (Cache& cache : model.graph.caches) {
    const CacheLayout layout = layout_of(model.graph, cache);
    if (layout.grows()) {
      if (const auto record = sparse_latent_record(options, model.graph, cache)) cache.format = *record;
      allocate_pool(options, layout, cache);
    }
    if (cache.kind != CacheKind::kState) continue;
    const bool convolves = layout.kind == Kind::kConvolution;
    cache.format = element_format(convolves ? DType::kBF16 : DType::kF32);
    set_streams(cache, layout, slots * Expr::variable(kBatchSize) + 1);
  }
}

}  // namespace kcharter
