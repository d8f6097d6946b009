// What the rules of all engines share: the options given, and a cache as an engine sees it.
#pragma once

#include <vector>

#include "kcharter/estimate/engine.h"

namespace kcharter {

// The options of one request, checked against those that the engine knows.
class EngineOptions {
 public:
  // Throws UsageError naming an option that `engine` does not have.
  EngineOptions(const Engine& engine, const EngineRequest& request);

  bool given(std::string_view key) const;
  std::string text(std::string_view key) const;
  int64_t integer(std::string_view key, int64_t least) const;
  bool flag(std::string_view key) const { return integer(key, 0) != 0; }
  // One of `names`.
  std::string choice(std::string_view key, std::initializer_list<std::string_view> names) const;
  // none where the text is "auto".
  std::optional<ElementFormat> format(std::string_view key) const;
  // A decimal of up to six digits behind the point, in millionths.
  int64_t millionths(std::string_view key) const;
  // What --kv-dtype asks for.
  const std::optional<ElementFormat>& kv_format() const { return kv_format_; }

 private:
  [[noreturn]] void refuse(std::string_view key, const std::string& expected) const;

  const Engine& engine_;
  std::map<std::string, std::string> given_;
  std::optional<ElementFormat> kv_format_;
};

struct CacheLayout {
  enum class Kind { kFull, kWindow, kChunk, kLatent, kIndex, kCross, kConvolution, kRecurrent, kOther };
  Kind kind = Kind::kOther;
  int64_t span = 0;  // of a window or chunk, in tokens
  int32_t batch_axis = -1;
  bool grows() const { return kind <= Kind::kIndex; }
};

CacheLayout layout_of(const Graph& graph, const Cache& cache);

// "past_key_values.3" of "past_key_values.3.key": the caches of one layer share it.
std::string_view layer_of(const Cache& cache);

Expr round_up(const Expr& count, int64_t multiple);
// Sets the positions each sequence takes. Nothing where the cache has no axis for them.
void set_positions(Cache& cache, const Expr& positions);
// Replaces max_length in the shape, and so in what is derived from it (keys pooled by 4).
void set_length(Cache& cache, const Expr& length);
// Sequences → `streams` in the shape.
void set_streams(Cache& cache, const CacheLayout& layout, const Expr& streams);
// Bytes of one position of one sequence, where no variable is in it.
std::optional<int64_t> bytes_per_position(const Cache& cache, const CacheLayout& layout);
// Bytes of one sequence, where no variable is in it.
std::optional<int64_t> bytes_per_sequence(const Cache& cache, const CacheLayout& layout);

// One vector of an fp8 sparse-attention latent: 512 fp8, 4 f32 scales, 64 bf16 (656 bytes);
// none where the cache is none of a layer that chooses its keys, or was not asked for in fp8. vllm:
// v1/attention/backends/mla (fp8_ds_mla), sglang: mem_cache/memory_pool.py.
std::optional<ElementFormat> sparse_latent_record(const EngineOptions& options, const Graph& graph,
                                                  const Cache& cache);
// Quantized elements in groups that share two numbers in half precision: a scale and a bias or zero
// point. Throws UsageError, naming the option of the bits, where they make no whole bytes.
ElementFormat grouped_format(std::string_view bits_option, int64_t bits, int64_t group);
// The encoder's positions of a cross-attention cache [batch, heads, positions, width] in whole blocks.
void round_up_encoded(Cache& cache, int64_t block);

// The last dimension of a latent cache becomes that of keys of all heads; a second cache, of the
// values of all heads, follows it.
void expand_latent(const Graph& graph, Cache& cache, std::vector<Cache>* added);

// The rules, one file each.
void allocate_as_llama_cpp(const EngineOptions& options, Model& model);
void allocate_as_mlx(const EngineOptions& options, Model& model);
void allocate_as_sglang(const EngineOptions& options, Model& model);
void allocate_as_tensorrt_llm(const EngineOptions& options, Model& model);
void allocate_as_transformers(const EngineOptions& options, Model& model);
void allocate_as_vllm(const EngineOptions& options, Model& model);

}  // namespace kcharter
