// The small members of a document: model, variables, summary, diagnostics. The summaries of a call
// (`--format json`) have the same.
#pragma once

#include "kcharter/report/document.h"
#include "report/json_writer.h"

namespace kcharter {

void write_model(const Document& document, JsonWriter& json);
void write_variables(const Document& document, JsonWriter& json);
void write_summary(const Document& document, JsonWriter& json);
void write_diagnostics(const Document& document, JsonWriter& json);

}  // namespace kcharter
