// The small members of a document: model, variables, summary, diagnostics. The summaries of a call
// (`--format json`) have the same.
#pragma once

#include <optional>
#include <vector>

#include "kcharter/report/document.h"
#include "report/json_writer.h"
#include "report/summary.h"

namespace kcharter {

void write_model(const Document& document, JsonWriter& json);
void write_variables(const Document& document, JsonWriter& json);
// A quantity with its formula as text.
void write_spelled(const Quantity& quantity, std::optional<Int> value, JsonWriter& json);
void write_entries(const std::vector<SummaryEntry>& entries, JsonWriter& json);
void write_summary(const Document& document, JsonWriter& json);
// What one of several devices holds, computes and sends.
void write_parallel(const Document& document, JsonWriter& json);
void write_diagnostics(const Document& document, JsonWriter& json);

}  // namespace kcharter
