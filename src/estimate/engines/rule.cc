#include "estimate/engines/rule.h"

#include <algorithm>
#include <charconv>

#include "kcharter/base/error.h"

namespace kcharter {

EngineOptions::EngineOptions(const Engine& engine, const EngineRequest& request)
    : engine_(engine), given_(request.options), kv_format_(request.kv_format) {
  for (const auto& [key, value] : given_) {
    if (std::ranges::find(engine.options, key, &EngineOption::key) != engine.options.end()) continue;
    std::string known;
    for (const EngineOption& option : engine.options) {
      known += (known.empty() ? "" : ", ") + std::string(option.key);
    }
    throw UsageError("--engine-option: " + std::string(engine.name) + " has no option '" + key +
                     "'; it has " + known);
  }
}

bool EngineOptions::given(std::string_view key) const {
  return given_.contains(std::string(key));
}

std::string EngineOptions::text(std::string_view key) const {
  if (auto found = given_.find(std::string(key)); found != given_.end()) return found->second;
  return std::string(std::ranges::find(engine_.options, key, &EngineOption::key)->fallback);
}

int64_t EngineOptions::integer(std::string_view key, int64_t least) const {
  const std::string value = text(key);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  constexpr int64_t kMost = int64_t{1} << 40;
  if (error != std::errc() || end != value.data() + value.size() || number < least || number > kMost) {
    refuse(key, "an integer of at least " + std::to_string(least));
  }
  return number;
}

std::string EngineOptions::choice(std::string_view key,
                                  std::initializer_list<std::string_view> names) const {
  std::string value = text(key);
  if (std::ranges::find(names, value) != names.end()) return value;
  std::string all;
  for (std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  refuse(key, "one of " + all);
}

std::optional<ElementFormat> EngineOptions::format(std::string_view key) const {
  const std::string value = text(key);
  if (value == "auto") return std::nullopt;
  std::optional<ElementFormat> format = parse_element_format(value);
  if (!format) refuse(key, "a type such as f16 or q8_0");
  return format;
}

int64_t EngineOptions::millionths(std::string_view key) const {
  const std::string value = text(key);
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !(number >= 0 && number <= 1)) {
    refuse(key, "a number from 0 to 1");
  }
  return static_cast<int64_t>(number * 1e6 + 0.5);
}

void EngineOptions::refuse(std::string_view key, const std::string& expected) const {
  throw UsageError("--engine-option " + std::string(key) + ": '" + text(key) + "' is not " + expected);
}

CacheLayout layout_of(const Graph& graph, const Cache& cache) {
  using Kind = CacheLayout::Kind;
  CacheLayout layout;
  if (!cache.allocated) return layout;
  const auto& dims = *cache.allocated;
  const auto batch = std::ranges::find(dims, Expr::variable(kBatchSize));
  if (batch != dims.end()) layout.batch_axis = static_cast<int32_t>(batch - dims.begin());
  if (cache.kind == CacheKind::kCrossKeyValue) {
    layout.kind = Kind::kCross;
    return layout;
  }
  const Node* reader = cache.reader ? &graph[cache.reader] : nullptr;
  if (cache.kind == CacheKind::kState) {
    bool convolves = reader != nullptr && reader->op_type == "CausalConvolution";
    layout.kind = convolves ? Kind::kConvolution : Kind::kRecurrent;
    return layout;
  }
  if (cache.sequence_axis < 0) return layout;
  layout.kind = Kind::kFull;
  if (reader == nullptr) return layout;
  if (reader->op_type == "LatentAttention") layout.kind = Kind::kLatent;
  if (reader->op_type == "SparseIndexer") layout.kind = Kind::kIndex;
  int64_t window = std::max(int_attribute(*reader, "window", 0), int_attribute(*reader, "local_window_size", 0));
  int64_t chunk = int_attribute(*reader, "chunk", 0);
  if (window > 0) layout = {Kind::kWindow, window, layout.batch_axis};
  else if (chunk > 0) layout = {Kind::kChunk, chunk, layout.batch_axis};
  return layout;
}

std::string_view layer_of(const Cache& cache) {
  return std::string_view(cache.name).substr(0, cache.name.rfind('.'));
}

Expr round_up(const Expr& count, int64_t multiple) {
  return multiple == 1 ? count : multiple * ceil_div(count, multiple);
}

void set_positions(Cache& cache, const Expr& positions) {
  if (cache.allocated && cache.sequence_axis >= 0) {
    (*cache.allocated)[static_cast<size_t>(cache.sequence_axis)] = positions;
  }
}

void set_length(Cache& cache, const Expr& length) {
  if (!cache.allocated) return;
  for (Expr& dim : *cache.allocated) dim = dim.substitute({{std::string(kMaxLength), length}});
}

void set_streams(Cache& cache, const CacheLayout& layout, const Expr& streams) {
  if (layout.batch_axis >= 0) (*cache.allocated)[static_cast<size_t>(layout.batch_axis)] = streams;
}

namespace {

// The bytes of the dimensions but for those two.
std::optional<int64_t> bytes_without(const Cache& cache, int32_t batch_axis, int32_t sequence_axis) {
  if (!cache.allocated || cache.format.block_bytes == 0) return std::nullopt;
  Expr elements(1);
  for (size_t axis = 0; axis < cache.allocated->size(); ++axis) {
    if (std::cmp_equal(axis, batch_axis) || std::cmp_equal(axis, sequence_axis)) continue;
    elements *= (*cache.allocated)[axis];
  }
  const std::optional<Int> bytes = byte_size(elements, cache.format).constant();
  if (!bytes || *bytes > (Int{1} << 60)) return std::nullopt;
  return static_cast<int64_t>(*bytes);
}

}  // namespace

std::optional<int64_t> bytes_per_position(const Cache& cache, const CacheLayout& layout) {
  return bytes_without(cache, layout.batch_axis, cache.sequence_axis);
}

std::optional<int64_t> bytes_per_sequence(const Cache& cache, const CacheLayout& layout) {
  return bytes_without(cache, layout.batch_axis, -1);
}

void expand_latent(const Graph& graph, Cache& cache, std::vector<Cache>* added) {
  const Node& reader = graph[cache.reader];
  const int64_t heads = int_attribute(reader, "num_heads", 1);
  const int64_t key = int_attribute(reader, "qk_nope_head_dim", 0) + int_attribute(reader, "qk_rope_head_dim", 0);
  Cache values = cache;
  values.name = std::string(layer_of(cache)) + ".value";
  values.input = values.output = ValueId();
  values.allocated->back() = heads * Expr(int_attribute(reader, "v_head_dim", 0));
  cache.allocated->back() = heads * Expr(key);
  added->push_back(std::move(values));
}

std::optional<ElementFormat> sparse_latent_record(const EngineOptions& options, const Graph& graph,
                                                  const Cache& cache) {
  if (layout_of(graph, cache).kind != CacheLayout::Kind::kLatent) return std::nullopt;
  const std::optional<ElementFormat>& asked = options.kv_format();
  const bool is_fp8 = asked && asked->name.starts_with("f") && asked->block_elements == 1 && asked->block_bytes == 1;
  if (!is_fp8) return std::nullopt;
  const Node& reader = graph[cache.reader];
  const int64_t latent = int_attribute(reader, "kv_lora_rank", 0);
  const int64_t rotary = int_attribute(reader, "qk_rope_head_dim", 0);
  if (int_attribute(reader, "selected_keys", 0) == 0 || latent % 128 != 0) return std::nullopt;
  return ElementFormat{"fp8_ds_mla", latent + rotary, latent + 4 * (latent / 128) + 2 * rotary};
}

ElementFormat grouped_format(std::string_view bits_option, int64_t bits, int64_t group) {
  constexpr int64_t kMostBits = 8, kLargestGroup = 4096, kTwoHalves = 4;
  if (bits > kMostBits || group > kLargestGroup || bits * group % 8 != 0) {
    throw UsageError("--engine-option " + std::string(bits_option) + ": " + std::to_string(bits) +
                     " bits in groups of " + std::to_string(group) + " make no whole bytes");
  }
  return {"q" + std::to_string(bits), group, bits * group / 8 + kTwoHalves};
}

void round_up_encoded(Cache& cache, int64_t block) {
  constexpr size_t kPositions = 2;
  if (!cache.allocated || cache.allocated->size() <= kPositions) return;
  Expr& positions = (*cache.allocated)[kPositions];
  positions = round_up(positions, block);
}

}  // namespace kcharter
