// transformers: src/transformers/cache_utils.py (DynamicLayer, DynamicSlidingWindowLayer,
// StaticLayer, StaticSlidingWindowLayer, QuantizedLayer).
#include "estimate/engines/rule.h"

namespace kcharter {
namespace {

using Kind = CacheLayout::Kind;

// A dynamic cache is as long as the sequence; a window keeps one position less than it sees.
void allocate_dynamic(const CacheLayout& layout, Cache& cache) {
  const Expr length = Expr::variable(kCurrentLength);
  if (layout.kind == Kind::kWindow) set_positions(cache, min(length, Expr(layout.span - 1)));
  else set_length(cache, length);
}

// The latest positions stay in the model's type beside the quantized ones.
void quantize(const EngineOptions& options, Cache& cache, std::vector<Cache>* added) {
  const Expr kept = min(Expr::variable(kCurrentLength), Expr(options.integer("residual_length", 0)));
  Cache residual = cache;
  residual.name += ".residual";
  residual.input = residual.output = ValueId();
  set_positions(residual, kept);
  set_positions(cache, Expr::variable(kCurrentLength) - kept);
  cache.format = grouped_format("nbits", options.integer("nbits", 1), options.integer("q_group_size", 1));
  added->push_back(std::move(residual));
}

}  // namespace

void allocate_as_transformers(const EngineOptions& options, Model& model) {
  const std::string kind = options.choice("cache_implementation", {"dynamic", "static", "quantized"});
  const bool expanded = options.choice("mla", {"latent", "expanded"}) == "expanded";
  std::vector<Cache> added;
  for (Cache& cache : model.graph.caches) {
    const CacheLayout layout = layout_of(model.graph, cache);
    if (layout.grows() && kind != "static") allocate_dynamic(layout, cache);
    if (layout.kind == Kind::kFull && kind == "quantized") quantize(options, cache, &added);
    if (layout.kind == Kind::kLatent && expanded) expand_latent(model.graph, cache, &added);
    // It keeps as many columns as the kernel has, the one of this token among them.
    if (layout.kind == Kind::kConvolution) {
      cache.allocated->back() = Expr(int_attribute(model.graph[cache.reader], "kernel", 1));
    }
  }
  std::ranges::move(added, std::back_inserter(model.graph.caches));
}

}  // namespace kcharter
