// llama.cpp: src/llama-kv-cache.cpp, llama-kv-cache-iswa.cpp, llama-kv-cache-dsa.cpp,
// llama-memory-recurrent.cpp, llama-context.cpp. Older builds and ik_llama.cpp are options of it:
// context_pad, swa_full, mla.
#include "estimate/engines/rule.h"

namespace kcharter {
namespace {

using Kind = CacheLayout::Kind;

struct Settings {
  bool unified, full_windows;
  int64_t pad, ubatch, rollback;
  std::string mla;
  ElementFormat keys, values;
};

Settings read(const EngineOptions& options) {
  const ElementFormat fallback = options.kv_format().value_or(element_format(DType::kF16));
  return {options.flag("unified"),
          options.flag("swa_full"),
          options.integer("context_pad", 1),
          options.integer("ubatch", 1),
          options.integer("rollback", 0),
          options.choice("mla", {"latent", "transposed", "expanded"}),
          options.format("cache_type_k").value_or(fallback),
          options.format("cache_type_v").value_or(fallback)};
}

bool is_value(const Cache& cache) {
  return cache.name.ends_with("value") || cache.name.ends_with(".v");
}

void allocate_positions(const Settings& settings, const CacheLayout& layout, Cache& cache) {
  const Expr sequences = Expr::variable(kBatchSize);
  const Expr length = Expr::variable(kMaxLength);
  const Expr cells = round_up(settings.unified ? sequences * length : length, settings.pad);
  if (settings.unified) set_streams(cache, layout, Expr(1));
  const bool windowed = layout.kind == Kind::kWindow || layout.kind == Kind::kChunk;
  if (windowed && !settings.full_windows) {
    const Expr kept = settings.unified ? layout.span * sequences : Expr(layout.span);
    set_positions(cache, min(cells, round_up(kept + settings.ubatch, settings.pad)));
  } else if (windowed) {
    set_positions(cache, cells);
  } else {
    set_length(cache, cells);
  }
}

}  // namespace

void allocate_as_llama_cpp(const EngineOptions& options, Model& model) {
  const Settings settings = read(options);
  std::vector<Cache> added;
  for (Cache& cache : model.graph.caches) {
    const CacheLayout layout = layout_of(model.graph, cache);
    if (cache.kind == CacheKind::kState) {
      cache.format = element_format(DType::kF32);
      set_streams(cache, layout, (1 + settings.rollback) * Expr::variable(kBatchSize));
      continue;
    }
    cache.format = is_value(cache) ? settings.values : settings.keys;
    if (layout.grows()) allocate_positions(settings, layout, cache);
    if (layout.kind != Kind::kLatent) continue;
    if (settings.mla == "expanded") {
      expand_latent(model.graph, cache, &added);
      added.back().format = settings.values;
    } else if (settings.mla == "transposed") {
      Cache latent = cache;
      latent.name += "_transposed";
      latent.input = latent.output = ValueId();
      latent.allocated->back() = Expr(int_attribute(model.graph[cache.reader], "kv_lora_rank", 0));
      added.push_back(std::move(latent));
    }
  }
  std::ranges::move(added, std::back_inserter(model.graph.caches));
}

}  // namespace kcharter
