// The summaries of documents for people and scripts: a terminal table, markdown, csv, json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kcharter/estimate/device.h"
#include "kcharter/estimate/generation.h"
#include "kcharter/report/document.h"

namespace kcharter {

enum class SummaryFormat : uint8_t { kTable, kMarkdown, kCsv, kJson, kNone };
// table, markdown, csv, json, none
std::optional<SummaryFormat> parse_summary_format(std::string_view text);

// What is asked beside the metrics.
struct OnDevice {
  const Device* device = nullptr;        // the time of a step there, and whether it fits
  std::optional<Request> request;        // answered where both modes are there
  std::optional<double> price_per_hour;  // of the device
};

// `documents` are those of one model, a mode each. `width` is the terminal's.
std::string summary_table(std::span<const Document> documents, size_t width, const OnDevice& asked);
std::string summary_markdown(std::span<const Document> documents);
// A row per document and the header once: give all documents of a call.
std::string summary_csv(std::span<const Document> documents);
// An array with an entry per document: its members model, mode, variables, summary and diagnostics,
// and what it comes to on the device; with a request what that takes, in the entries of decode.
std::string summary_json(std::span<const Document> documents, const OnDevice& asked);

// How many metrics of the summary are unknown or a lower bound since something below is unknown.
int incomplete_metrics(const Document& document);

}  // namespace kcharter
