#include "kcharter/estimate/quantity.h"

#include <algorithm>

namespace kcharter {
namespace {

constexpr std::array<std::string_view, 5> kExactnessNames = {"exact", "estimated", "lower_bound",
                                                             "assumed", "unknown"};
constexpr std::array<std::string_view, 6> kSourceNames = {"tensor", "config",  "graph",
                                                          "rule",   "assumed", "unknown"};
constexpr std::array<std::string_view, kMetricCount> kMetricNames = {
    "weight_bytes",     "kv_cache_bytes", "state_bytes",           "activation_peak_bytes",
    "cache_copy_bytes", "flops",          "elementwise_flops",     "weight_read_bytes",
    "kv_read_bytes",    "kv_write_bytes", "activation_read_bytes", "activation_write_bytes"};

bool is_nothing(const Quantity& quantity) {
  return quantity.formula && quantity.formula->is_zero();
}

}  // namespace

std::string_view name(Exactness exactness) {
  return kExactnessNames[static_cast<size_t>(exactness)];
}
std::string_view name(Source source) { return kSourceNames[static_cast<size_t>(source)]; }
std::string_view name(Metric metric) { return kMetricNames[static_cast<size_t>(metric)]; }

Quantity unknown_quantity() { return {std::nullopt, Exactness::kUnknown, Source::kUnknown}; }

Quantity operator+(const Quantity& a, const Quantity& b) {
  bool nothing_a = is_nothing(a) && a.exactness == Exactness::kExact;
  bool nothing_b = is_nothing(b) && b.exactness == Exactness::kExact;
  if (nothing_b) return a;
  if (nothing_a) return b;
  if (!a.formula && !b.formula) return unknown_quantity();
  if (!a.formula || !b.formula) {
    Quantity known = a.formula ? a : b;
    known.exactness = std::max(known.exactness, Exactness::kLowerBound);
    return known;
  }
  return {*a.formula + *b.formula, std::max(a.exactness, b.exactness),
          std::max(a.source, b.source)};
}

Quantity operator*(const Quantity& a, int64_t times) {
  if (!a.formula) return times == 0 ? Quantity{} : a;
  return {*a.formula * Expr(times), a.exactness, a.source};
}

}  // namespace kcharter
