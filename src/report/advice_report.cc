#include "kcharter/report/advice_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "kcharter/base/utf8.h"
#include "kcharter/report/amounts.h"
#include "kcharter/report/text_table.h"
#include "report/advice_rows.h"
#include "report/document_members.h"
#include "report/heading.h"
#include "report/json_writer.h"
#include "report/markdown_cell.h"

namespace kcharter {
namespace {

constexpr size_t kMostPlaces = 3;

std::string amount(const std::optional<Int>& value, std::string (*text)(Int)) {
  if (!value) return "unknown";
  return *value == 0 ? "-" : text(*value);
}

std::string percent(double part, double whole) {
  if (whole <= 0) return "-";
  const double share = 100 * part / whole;
  return share < 0.1 ? "< 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string saved_text(const AdviceRow& row) {
  if (row.time.estimate <= 0) return "-";
  const bool is_least = row.pattern && row.pattern->promise == Promise::kAtLeast;
  const std::string sign = !row.pattern ? "" : is_least ? "≥ " : "≤ ";
  return sign + seconds_text(row.time.estimate);
}

std::vector<std::string> places_of(const Document& document, const AdviceRow& row) {
  std::vector<std::string> places;
  for (const Finding* finding : row.findings) {
    std::string path = document.tree[finding->module].path;
    if (path.empty()) path = "(the model)";
    if (std::find(places.begin(), places.end(), path) == places.end()) places.push_back(path);
  }
  return places;
}

std::string where(const Document& document, const AdviceRow& row) {
  const std::vector<std::string> places = places_of(document, row);
  std::string text;
  for (size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i) {
    text += (i > 0 ? ", " : "") + places[i];
  }
  if (places.size() > kMostPlaces) text += fmt::format(" and {} more", places.size() - kMostPlaces);
  return text;
}

std::vector<std::string> cells(const AdviceRow& row, double step, std::string first) {
  return {std::move(first),
          row.pattern ? grouped_digits(row.sites) : "",
          saved_text(row),
          row.counted ? percent(row.time.estimate, step) : "not in total",
          amount(row.launches, grouped_digits),
          amount(row.moved_bytes, bytes_text),
          amount(row.flops, flops_text),
          amount(row.memory_bytes, bytes_text)};
}

const std::vector<std::string>& head() {
  static const std::vector<std::string> kHead = {"Finding",  "Sites", "Saves", "Of step",
                                                 "Launches", "Moved", "FLOPs", "Memory"};
  return kHead;
}

std::string explained(const Document& document, const AdviceRow& row) {
  std::string text =
      fmt::format("\n  {}: {} ({})\n", row.pattern->id, row.pattern->what, name(row.pattern->sure));
  text += "    where   " + printable(where(document, row)) + "\n";
  text += fmt::format("    why     {}\n    remedy  {}\n", row.pattern->why, row.pattern->remedy);
  if (!row.pattern->mended_by.empty()) {
    text += fmt::format("    at load {}\n", row.pattern->mended_by);
  }
  return text;
}

std::string by_memory(const AdviceRows& advice) {
  std::vector<const AdviceRow*> rows;
  for (const AdviceRow& row : advice.rows) {
    if (row.memory_bytes.value_or(0) > 0) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return *a->memory_bytes > *b->memory_bytes;
  });
  std::string text;
  for (const AdviceRow* row : rows) {
    text += fmt::format("{}{} {}", text.empty() ? "\n  By memory: " : ", ", row->pattern->id,
                        bytes_text(*row->memory_bytes));
  }
  return text.empty() ? text : text + "\n";
}

std::string title(const Document& document, const Device& device, double step) {
  return fmt::format("{} on {}, a step of {}", name(document.model.mode), device.id,
                     seconds_text(step));
}

void write_row(const Document& document, const AdviceRow& row, double step, JsonWriter& json) {
  const auto number = [&json](std::string_view key, const std::optional<Int>& value) {
    json.key(key);
    value ? json.integer(*value) : json.null();
  };
  json.line().begin_object();
  if (row.pattern) {
    json.key("pattern").text(row.pattern->id).key("what").text(row.pattern->what);
    json.key("why").text(row.pattern->why).key("remedy").text(row.pattern->remedy);
    json.key("mended_by");
    row.pattern->mended_by.empty() ? json.null() : json.text(row.pattern->mended_by);
    json.key("promise").text(name(row.pattern->promise)).key("sure").text(name(row.pattern->sure));
    json.key("counted").boolean(row.counted).key("sites").integer(Int{row.sites});
    json.key("modules").begin_array();
    for (const std::string& place : places_of(document, row)) json.text(place);
    json.end_array();
  }
  json.key("saves").begin_object().key("seconds").real(row.time.estimate);
  json.key("seconds_bound").real(row.time.bound).key("share_of_step");
  json.real(step > 0 ? row.time.estimate / step : 0);
  number("launches", row.launches);
  number("moved_bytes", row.moved_bytes);
  number("flops", row.flops);
  number("memory_bytes", row.memory_bytes);
  number("peak_bytes", row.saves.peak_bytes);
  json.end_object().end_object();
}

}  // namespace

std::string advice_table(std::span<const Document> documents, const Device& device, size_t width) {
  if (documents.empty()) return "";
  std::string text = heading(documents);
  for (const Document& document : documents) {
    const AdviceRows advice = advice_rows(document, device);
    text += "\n  " + title(document, device, advice.step_seconds) + "\n\n";
    if (advice.rows.empty()) {
      text += "  Nothing found.\n";
      continue;
    }
    TextTable table(1);
    table.add(head());
    table.add_rule();
    for (const AdviceRow& row : advice.rows) {
      table.add(cells(row, advice.step_seconds, std::string(row.pattern->id)));
    }
    table.add_rule();
    table.add(cells(advice.total, advice.step_seconds, "all together"));
    text += table.to_string(width) + by_memory(advice);
    for (const AdviceRow& row : advice.rows) text += explained(document, row);
  }
  return text +
         "\n  Savings do not add: the last line is the graph with every finding mended. Estimates\n"
         "  from the graph alone, at the settings above; nothing was measured.\n\n";
}

std::string advice_markdown(std::span<const Document> documents, const Device& device) {
  std::string text;
  for (const Document& document : documents) {
    const AdviceRows advice = advice_rows(document, device);
    text += fmt::format("### {}: {}\n\n|", markdown_cell(document.model.name),
                        markdown_cell(title(document, device, advice.step_seconds)));
    for (const std::string& cell : head()) text += " " + cell + " |";
    text += " Where | Mended at load by |\n|---|---:|---:|---:|---:|---:|---:|---:|---|---|\n";
    const auto add = [&](const AdviceRow& row, std::string first) {
      text += "|";
      for (const std::string& cell : cells(row, advice.step_seconds, std::move(first))) {
        text += " " + markdown_cell(cell) + " |";
      }
      text += row.pattern ? " " + markdown_cell(where(document, row)) + " | " +
                                markdown_cell(row.pattern->mended_by) + " |\n"
                          : " | |\n";
    };
    for (const AdviceRow& row : advice.rows) add(row, std::string(row.pattern->id));
    add(advice.total, "all together");
    text += "\n";
  }
  return text;
}

std::string advice_json(std::span<const Document> documents, const Device& device) {
  JsonWriter json;
  json.begin_array();
  for (const Document& document : documents) {
    const AdviceRows advice = advice_rows(document, device);
    json.line().begin_object().key("model").text(document.model.name);
    json.key("mode").text(name(document.model.mode)).line().key("variables");
    write_variables(document, json);
    json.line().key("device").text(device.id).key("step_seconds").real(advice.step_seconds);
    json.line().key("findings").begin_array();
    for (const AdviceRow& row : advice.rows) write_row(document, row, advice.step_seconds, json);
    json.end_array().line().key("total");
    write_row(document, advice.total, advice.step_seconds, json);
    json.end_object();
  }
  return json.line().end_array().take() + "\n";
}

}  // namespace kcharter
