// What a document says of the whole model, in one list for every writer: the metrics with their
// values at the document's variables, the variables themselves, the diagnostics.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/report/document.h"

namespace kcharter {

struct SummaryEntry {
  std::string_view name;  // weight_bytes … total_bytes … activation_write_bytes
  Quantity quantity;
  std::optional<Int> value;  // none: unknown, or past 128 bits
};

// In the order of the document.
std::vector<SummaryEntry> summarize(const Document& document);
// The names of what summarize() lists.
std::vector<std::string_view> summary_names();
// The same of one device (Estimate::parallel), on the stage that `pipeline_stage` names.
std::vector<SummaryEntry> summarize_device(const Document& document);
std::optional<Int> value_of(const Quantity& quantity, const Bindings& values);

// batch_size, current_length, max_length, then the model's own, then the parallel sizes, each with its
// value as set.
std::vector<Variable> document_variables(const Document& document);

// "parallel" for the sizes of groups of devices, "cache" for the block of the caches' format; empty:
// of the workload.
std::string_view group_of(std::string_view variable);

// The variables that any of the summaries depends on.
std::set<std::string> used_variables(std::span<const Document> documents);

// Whether the counts of parameters and elements mean anything: a configuration of a family that is
// not known says nothing of its tensors.
bool tensors_known(const Document& document);

// Of import, shapes and estimate together, worst first.
std::vector<Diagnostic> all_diagnostics(const Document& document);

}  // namespace kcharter
