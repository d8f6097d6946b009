// Quantity: a number that explains itself: formula, how exact, where from. Metrics: one Quantity per
// metric of the document.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

// Worst last: a sum is as exact as its worst part.
enum class Exactness : uint8_t { kExact, kEstimated, kLowerBound, kAssumed, kUnknown };
std::string_view name(Exactness exactness);  // exact, estimated, lower_bound, assumed, unknown

enum class Source : uint8_t { kTensor, kConfig, kGraph, kRule, kAssumed, kUnknown };
std::string_view name(Source source);  // tensor, config, graph, rule, assumed, unknown

struct Quantity {
  std::optional<Expr> formula = Expr(0);  // nullopt: unknown
  Exactness exactness = Exactness::kExact;
  Source source = Source::kRule;
};

Quantity unknown_quantity();
// Known plus unknown is a lower bound, unless both are unknown.
Quantity operator+(const Quantity& a, const Quantity& b);
Quantity operator*(const Quantity& a, int64_t times);

enum class Metric : uint8_t {
  kWeightBytes, kKvCacheBytes, kStateBytes, kActivationPeakBytes, kCacheCopyBytes,
  kFlops, kElementwiseFlops, kWeightReadBytes, kKvReadBytes, kKvWriteBytes,
  kActivationReadBytes, kActivationWriteBytes,
};
inline constexpr size_t kMetricCount = 12;
std::string_view name(Metric metric);  // weight_bytes, kv_cache_bytes, …

struct Metrics {
  std::array<Quantity, kMetricCount> all;
  Quantity& operator[](Metric metric) { return all[static_cast<size_t>(metric)]; }
  const Quantity& operator[](Metric metric) const { return all[static_cast<size_t>(metric)]; }
};

}  // namespace kcharter
