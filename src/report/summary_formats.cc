#include "kcharter/report/summary_formats.h"

#include <fmt/format.h>

#include "kcharter/report/amounts.h"
#include "report/device_figures.h"
#include "report/generation_figures.h"
#include "report/document_members.h"
#include "report/json_writer.h"
#include "report/markdown_cell.h"
#include "report/summary.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

// RFC 4180: quoted where a separator, quote or line break is in it.
std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    cell += c;
    if (c == '"') cell += c;
  }
  return cell + '"';
}

std::string markdown_value(const SummaryEntry& entry) {
  if (!entry.value) return "unknown";
  const std::string text =
      entry.name.ends_with("flops") ? flops_text(*entry.value) : bytes_text(*entry.value);
  const std::string exactness(name(entry.quantity.exactness));
  return entry.quantity.exactness == Exactness::kExact ? text : text + " (" + exactness + ")";
}

}  // namespace

std::optional<SummaryFormat> parse_summary_format(std::string_view text) {
  if (text == "table") return SummaryFormat::kTable;
  if (text == "markdown") return SummaryFormat::kMarkdown;
  if (text == "csv") return SummaryFormat::kCsv;
  if (text == "json") return SummaryFormat::kJson;
  if (text == "none") return SummaryFormat::kNone;
  return std::nullopt;
}

std::string summary_markdown(std::span<const Document> documents) {
  if (documents.empty()) return "";
  std::string text = fmt::format("### {}\n\n", markdown_cell(documents[0].model.name));
  for (const Variable& variable : document_variables(documents[0])) {
    const bool is_size = is_parallel(variable.name);
    if (is_size ? !has_several_devices(documents[0].values) : !group_of(variable.name).empty()) {
      continue;
    }
    text += fmt::format("- `{}` = {}\n", variable.name, grouped_digits(variable.value));
  }
  text += fmt::format(
      "- parameters: {}\n\n| metric |",
      tensors_known(documents[0]) ? grouped_digits(documents[0].estimate.parameters) : "unknown");
  std::string rule = "|---|";
  std::vector<std::vector<SummaryEntry>> summaries;
  for (const Document& document : documents) {
    text += fmt::format(" {} |", name(document.model.mode));
    rule += "---:|";
    summaries.push_back(summarize(document));
  }
  text += "\n" + rule + "\n";
  for (size_t i = 0; i < summaries[0].size(); ++i) {
    text += fmt::format("| `{}` |", summaries[0][i].name);
    for (const auto& summary : summaries) text += " " + markdown_value(summary[i]) + " |";
    text += "\n";
  }
  return text + "\n";
}

std::string summary_csv(std::span<const Document> documents) {
  std::string text =
      "model,mode,format,architecture,batch_size,current_length,max_length,parameters";
  bool has_header = false;
  std::string rows;
  for (const Document& document : documents) {
    const Model& model = document.model;
    rows += csv_cell(model.name) + ',' + std::string(name(model.mode)) + ',' +
            std::string(name(model.format)) + ',' + csv_cell(model.architecture);
    for (const std::string_view variable : {kBatchSize, kCurrentLength, kMaxLength}) {
      const auto value = document.values.find(variable);
      rows += ',' + (value == document.values.end() ? "" : to_string(value->second));
    }
    rows += ',' + (tensors_known(document) ? to_string(document.estimate.parameters) : "");
    for (const SummaryEntry& entry : summarize(document)) {
      if (!has_header) text += ',' + std::string(entry.name);
      rows += ',' + (entry.value ? to_string(*entry.value) : "");
    }
    has_header = true;
    rows += '\n';
  }
  return text + '\n' + rows;
}

std::string summary_json(std::span<const Document> documents, const OnDevice& asked) {
  JsonWriter json;
  json.begin_array();
  for (size_t i = 0; i < documents.size(); ++i) {
    const Document& document = documents[i];
    json.line().begin_object().key("model");
    write_model(document, json);
    json.line().key("mode").text(name(document.model.mode)).line().key("variables");
    write_variables(document, json);
    json.line().key("summary");
    write_summary(document, json);
    if (asked.device != nullptr) {
      json.line().key("device");
      write_device(document, *asked.device, json);
    }
    // Of one model prefill stands before decode.
    if (asked.device != nullptr && asked.request && i > 0 && is_pair(documents[i - 1], document)) {
      json.line().key("generation");
      write_generation(documents[i - 1], document, asked, json);
    }
    json.line().key("diagnostics");
    write_diagnostics(document, json);
    json.end_object();
  }
  return json.line().end_array().take() + "\n";
}

int incomplete_metrics(const Document& document) {
  int count = 0;
  for (const SummaryEntry& entry : summarize(document)) {
    const Exactness exactness = entry.quantity.exactness;
    if (exactness == Exactness::kUnknown || exactness == Exactness::kLowerBound) ++count;
  }
  return count;
}

}  // namespace kcharter
