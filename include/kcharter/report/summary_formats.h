// The summaries of documents for people and scripts: a terminal table, markdown, csv, json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kcharter/estimate/device.h"
#include "kcharter/report/document.h"

namespace kcharter {

enum class SummaryFormat : uint8_t { kTable, kMarkdown, kCsv, kJson, kNone };
// table, markdown, csv, json, none
std::optional<SummaryFormat> parse_summary_format(std::string_view text);

// `documents` are those of one model, a mode each. `width` is the terminal's; with a device also
// the time of a step there, and whether it fits.
std::string summary_table(std::span<const Document> documents, size_t width, const Device* device);
std::string summary_markdown(std::span<const Document> documents);
// A row per document and the header once: give all documents of a call.
std::string summary_csv(std::span<const Document> documents);
// An array with an entry per document: its members model, mode, variables, summary and diagnostics,
// and what it comes to on the device.
std::string summary_json(std::span<const Document> documents, const Device* device);

// How many metrics of the summary are unknown or a lower bound since something below is unknown.
int incomplete_metrics(const Document& document);

}  // namespace kcharter
