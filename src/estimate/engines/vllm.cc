// vLLM v1: vllm/v1/kv_cache_interface.py (pages of each kind of layer), vllm/v1/core/kv_cache_utils.py
// (groups), vllm/model_executor/models/config.py (pages of hybrid models), and
// vllm/model_executor/layers/mamba/mamba_utils.py (states).
#include <algorithm>
#include <map>

#include "estimate/engines/rule.h"

namespace kcharter {
namespace {

using Kind = CacheLayout::Kind;

struct Layer {
  int64_t bytes_per_token = 0;  // of attention
  int64_t state_bytes = 0;      // of one sequence
  std::vector<uint32_t> states; // indices of its caches
};

class Allocation {
 public:
  Allocation(const EngineOptions& options, Model& model)
      : model_(model), graph_(model.graph), block_(options.integer("block_size", 1)),
        batched_(options.integer("max_num_batched_tokens", 1)),
        drafts_(options.integer("num_speculative_tokens", 0)),
        mode_(options.choice("mamba_cache_mode", {"none", "align", "all"})),
        windows_(options.flag("hybrid_kv_cache_manager")) {
    const bool scaled = options.choice("kv_scales", {"none", "per_token_head"}) != "none";
    state_format_ = options.format("mamba_ssm_cache_dtype");
    for (Cache& cache : graph_.caches) set_format(options, scaled, cache);
  }

  void run() {
    std::map<std::string, Layer, std::less<>> layers = measure();
    align(layers);
    for (Cache& cache : graph_.caches) allocate_attention(cache);
    std::vector<Cache> padding;
    for (const auto& [name, layer] : layers) allocate_states(name, layer, &padding);
    std::ranges::move(padding, std::back_inserter(graph_.caches));
    if (page_ > 0) {
      model_.conventions.push_back("vllm: a block holds " + std::to_string(block_) +
                                   " tokens, so that a page of attention holds a recurrent state.");
    }
  }

 private:
  void set_format(const EngineOptions& options, bool scaled, Cache& cache) {
    const CacheLayout layout = layout_of(graph_, cache);
    if (layout.kind == Kind::kRecurrent && state_format_) cache.format = *state_format_;
    if (!layout.grows()) return;
    if (const auto record = sparse_latent_record(options, graph_, cache)) cache.format = *record;
    const std::optional<Int> width = cache.allocated->back().constant();
    if (scaled && layout.kind != Kind::kIndex && layout.kind != Kind::kLatent && width && *width < 1 << 20) {
      const int64_t elements = static_cast<int64_t>(*width);
      const std::optional<Int> bytes = byte_size(Expr(elements), cache.format).constant();
      cache.format = {cache.format.name + "_per_token_head", elements, static_cast<int64_t>(*bytes) + 4};
    }
  }

  // Draft tokens widen the window that a convolution keeps.
  void widen(Cache& cache) const {
    Expr& columns = cache.allocated->back();
    columns = columns + drafts_;
  }

  std::map<std::string, Layer, std::less<>> measure() {
    std::map<std::string, Layer, std::less<>> layers;
    for (uint32_t i = 0; i < graph_.caches.size(); ++i) {
      Cache& cache = graph_.caches[i];
      const CacheLayout layout = layout_of(graph_, cache);
      Layer& layer = layers[std::string(layer_of(cache))];
      if (layout.kind == Kind::kConvolution) widen(cache);
      if (cache.kind == CacheKind::kState) {
        layer.states.push_back(i);
        add(bytes_per_sequence(cache, layout), cache, layer.state_bytes);
      } else if (layout.grows() && layout.kind != Kind::kIndex) {
        add(bytes_per_position(cache, layout), cache, layer.bytes_per_token);
      }
    }
    return layers;
  }

  // A size that is not known is not 0: no page can be computed from it.
  void add(std::optional<int64_t> bytes, const Cache& cache, int64_t& sum) {
    if (bytes) {
      sum += *bytes;
      return;
    }
    sizes_known_ = false;
    model_.diagnostics.add(Severity::kWarning, "engine-size-unknown", "cache '" + cache.name + "'",
                           "its size is a formula or unknown, so that states are not padded to pages");
  }

  // Attention's block grows until its page holds the largest state; states are padded to that page.
  void align(const std::map<std::string, Layer, std::less<>>& layers) {
    int64_t token = 0, state = 0;
    for (const auto& [name, layer] : layers) {
      token = std::max(token, layer.bytes_per_token);
      state = std::max(state, layer.state_bytes);
    }
    if (!sizes_known_ || token == 0 || state == 0) return;
    block_ *= (state + block_ * token - 1) / (block_ * token);
    page_ = block_ * token;
  }

  void allocate_attention(Cache& cache) const {
    const CacheLayout layout = layout_of(graph_, cache);
    const Expr length = Expr::variable(kMaxLength);
    const Expr whole = round_up(length, block_);
    if (windows_ && layout.kind == Kind::kWindow) {
      // One block more: a window may begin anywhere in one.
      Expr kept = min(length, Expr(layout.span - 1 + batched_));
      set_positions(cache, round_up(kept, block_) + block_);
    } else if (windows_ && layout.kind == Kind::kChunk) {
      set_positions(cache, round_up(min(length, Expr(layout.span + batched_)), block_));
    } else if (layout.kind == Kind::kWindow || layout.kind == Kind::kChunk) {
      set_positions(cache, whole);
    } else if (layout.grows()) {
      set_length(cache, whole);
    } else if (layout.kind == Kind::kCross) {
      round_up_encoded(cache, block_);
    }
  }

  void allocate_states(const std::string& name, const Layer& layer, std::vector<Cache>* padding) const {
    if (layer.states.empty()) return;
    const Expr pages = mode_ == "all" ? ceil_div(Expr::variable(kMaxLength), Expr(block_))
                                      : Expr(drafts_ + (mode_ == "align" ? 2 : 1));
    const Expr kept = pages * Expr::variable(kBatchSize);
    for (uint32_t state : layer.states) {
      Cache& cache = graph_.caches[state];
      set_streams(cache, layout_of(graph_, cache), kept);
    }
    if (page_ <= layer.state_bytes) return;
    Cache rest = graph_.caches[layer.states.back()];
    rest.name = name + ".padding";
    rest.input = rest.output = ValueId();
    rest.format = element_format(DType::kUInt8);
    rest.allocated = {kept, Expr(page_ - layer.state_bytes)};
    padding->push_back(std::move(rest));
  }

  Model& model_;
  Graph& graph_;
  int64_t block_, batched_, drafts_;
  std::string mode_;
  bool windows_;
  std::optional<ElementFormat> state_format_;
  int64_t page_ = 0;
  bool sizes_known_ = true;
};

}  // namespace

void allocate_as_vllm(const EngineOptions& options, Model& model) {
  Allocation(options, model).run();
}

}  // namespace kcharter
