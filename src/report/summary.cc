#include "report/summary.h"

#include <algorithm>
#include <string>

#include "kcharter/estimate/caches.h"

namespace kcharter {

std::optional<Int> value_of(const Quantity& quantity, const Bindings& values) {
  if (!quantity.formula) return std::nullopt;
  try {
    return quantity.formula->evaluate(values);
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

namespace {

std::vector<SummaryEntry> entries_of(const Document& document, const Metrics& metrics,
                                     const Quantity& total) {
  std::vector<SummaryEntry> entries;
  const auto add = [&](std::string_view metric, const Quantity& quantity) {
    entries.push_back({metric, quantity, value_of(quantity, document.values)});
  };
  for (size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    // The bytes that must be in memory come first, and their sum ends them.
    if (metric == Metric::kFlops) add("total_bytes", total);
    add(name(metric), metrics[metric]);
  }
  return entries;
}

}  // namespace

std::vector<SummaryEntry> summarize(const Document& document) {
  return entries_of(document, document.estimate.summary, document.estimate.total_bytes);
}

std::vector<std::string_view> summary_names() {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    if (metric == Metric::kFlops) names.emplace_back("total_bytes");
    names.push_back(name(metric));
  }
  return names;
}

std::vector<SummaryEntry> summarize_device(const Document& document) {
  const ParallelEstimate& parallel = document.estimate.parallel;
  return entries_of(document, parallel.device, parallel.total_bytes);
}

std::vector<Variable> document_variables(const Document& document) {
  std::vector<Variable> variables = {{std::string(kBatchSize), "Batch"},
                                     {std::string(kCurrentLength), "Current length"},
                                     {std::string(kMaxLength), "Max length"}};
  const std::vector<Variable>& own = document.model.variables;
  variables.insert(variables.end(), own.begin(), own.end());
  const auto add_where_set = [&](std::string_view name, const char* label) {
    if (document.values.contains(name)) variables.push_back({std::string(name), label});
  };
  add_where_set(kPrefillChunkLength, "Prefill chunk length");
  add_where_set(kKvBlockElements, "Cache block elements");
  add_where_set(kKvBlockBytes, "Cache block bytes");
  const std::vector<Variable> sizes = parallel_variables();
  variables.insert(variables.end(), sizes.begin(), sizes.end());
  for (Variable& variable : variables) {
    const auto value = document.values.find(variable.name);
    if (value != document.values.end()) variable.value = to_int64(value->second);
  }
  return variables;
}

std::string_view group_of(std::string_view variable) {
  if (is_parallel(variable)) return "parallel";
  return variable == kKvBlockElements || variable == kKvBlockBytes ? "cache" : "";
}

std::set<std::string> used_variables(std::span<const Document> documents) {
  std::set<std::string> used;
  for (const Document& document : documents) {
    for (const Quantity& quantity : document.estimate.summary.all) {
      if (quantity.formula) quantity.formula->collect_variables(used);
    }
  }
  return used;
}

bool tensors_known(const Document& document) {
  return document.model.graph_known || !document.model.graph.initializers.empty();
}

std::vector<Diagnostic> all_diagnostics(const Document& document) {
  Diagnostics together = document.model.diagnostics;
  together.add(document.estimate.diagnostics);
  for (const SummaryEntry& entry : summarize(document)) {
    if (entry.value || !entry.quantity.formula) continue;
    together.add(Severity::kWarning, "value-overflow", entry.name,
                 "the value at these settings does not fit 128 bits and is left out");
  }
  for (const SplitCondition& condition : document.estimate.parallel.conditions) {
    const auto rest = value_of({condition.violation}, document.values);
    if (!rest || *rest == 0) continue;
    together.add(Severity::kWarning, condition.code, condition.subject, condition.message);
  }
  std::vector<Diagnostic> sorted = together.all();
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.severity > b.severity;
  });
  return sorted;
}

}  // namespace kcharter
