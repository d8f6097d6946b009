#include "kcharter/report/fit_report.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "kcharter/estimate/fit.h"
#include "kcharter/report/amounts.h"
#include "report/device_figures.h"
#include "report/document_members.h"
#include "report/heading.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

struct FitAnswers {
  std::optional<Fit> fit;
  std::optional<int64_t> largest_batch;
  std::optional<int64_t> longest_length;
  const Device* smallest = nullptr;  // none: no device of the table is large enough
  std::optional<DeviceGroup> fewest;
};

FitAnswers answers_of(const Document& document, const Device& device, int64_t overhead_bytes) {
  const Estimate& estimate = document.estimate;
  const Bindings& values = document.values;
  return {fit(estimate, values, device, overhead_bytes),
          largest_batch(estimate, values, device, overhead_bytes),
          longest_length(estimate, values, device, overhead_bytes),
          smallest_device(estimate, values, overhead_bytes),
          fewest_devices(estimate, values, device, overhead_bytes)};
}

// What part of the memory is unknown can only make an answer worse.
bool is_complete(const FitAnswers& answers) { return answers.fit && answers.fit->complete; }

std::string needed_text(const FitAnswers& answers) {
  if (!answers.fit) return "unknown";
  return (answers.fit->complete ? "" : "≥ ") + bytes_text(answers.fit->needed);
}

std::string verdict_text(const FitAnswers& answers) {
  const bool fits = is_complete(answers) && answers.fit->fits();
  return (fits ? "fits, " : "") + fit_text(answers.fit);
}

std::string limit_text(const FitAnswers& answers, std::optional<int64_t> limit) {
  if (!answers.fit) return "unknown";
  if (!limit) return is_complete(answers) ? "any" : "unknown";
  if (*limit == 0) return "none";
  return (answers.fit->complete ? "" : "≤ ") + grouped_digits(*limit);
}

std::string batch_text(const FitAnswers& answers) {
  return limit_text(answers, answers.largest_batch);
}

std::string length_text(const FitAnswers& answers) {
  return limit_text(answers, answers.longest_length);
}

std::string device_text(const FitAnswers& answers) {
  if (!is_complete(answers)) return "unknown";
  return answers.smallest ? answers.smallest->id : "none";
}

std::string group_text(const FitAnswers& answers) {
  if (!is_complete(answers)) return "unknown";
  if (!answers.fewest) return "none";
  const DeviceGroup& group = *answers.fewest;
  std::string text = grouped_digits(group.devices);
  if (group.tensor_parallel > 1) text += fmt::format(", tensor parallel {}", group.tensor_parallel);
  if (group.pipeline_parallel > 1) text += fmt::format(", {} stages", group.pipeline_parallel);
  return text;
}

std::string assumptions(const Document& document, const Device& device, int64_t overhead_bytes) {
  std::string text = "one device";
  if (has_several_devices(document.values)) {
    text = "the fullest of " +
           grouped_digits(document.estimate.parallel.devices.evaluate(document.values)) + " devices";
  }
  if (device.memory_bytes) {
    text += fmt::format(", {:.4g} % of its {} usable", device.usable_fraction * 100,
                        bytes_text(*device.memory_bytes));
  }
  text += "; weights, cache, state, activation peak and cache copies";
  text += overhead_bytes > 0 ? fmt::format(", and {} for the runtime", bytes_text(overhead_bytes))
                             : ", nothing for the runtime (--overhead)";
  return text + "; the longest length is also that of the cache";
}

}  // namespace

std::string fit_table(std::span<const Document> documents, const Device& device,
                      int64_t overhead_bytes, size_t width) {
  if (documents.empty()) return "";
  std::vector<FitAnswers> answers;
  TextTable table(1);
  std::vector<std::string> head = {"On " + device.id};
  for (const Document& document : documents) {
    answers.push_back(answers_of(document, device, overhead_bytes));
    head.emplace_back(name(document.model.mode));
  }
  table.add(std::move(head));
  const auto usable = usable_memory_bytes(device);
  const auto usable_text = [&](const FitAnswers&) {
    return usable ? bytes_text(*usable) : std::string("unknown");
  };
  const std::pair<const char*, std::function<std::string(const FitAnswers&)>> rows[] = {
      {"Needed", needed_text},         {"Usable", usable_text},
      {"Verdict", verdict_text},       {"Largest batch", batch_text},
      {"Longest length", length_text}, {"Smallest device", device_text},
      {"Fewest devices", group_text},
  };
  for (const auto& [label, text] : rows) {
    std::vector<std::string> row = {label};
    for (const FitAnswers& answer : answers) row.push_back(text(answer));
    table.add(std::move(row));
  }
  return heading(documents) + "\n" + table.to_string(width) + "\n  Assumes " +
         assumptions(documents.back(), device, overhead_bytes) + ".\n\n";
}

std::string fit_json(std::span<const Document> documents, const Device& device,
                     int64_t overhead_bytes) {
  JsonWriter json;
  const auto number = [&json](std::string_view key, std::optional<Int> value) {
    json.key(key);
    value ? json.integer(*value) : json.null();
  };
  json.begin_array();
  for (const Document& document : documents) {
    const FitAnswers answers = answers_of(document, device, overhead_bytes);
    const std::optional<Fit>& fit = answers.fit;
    json.line().begin_object().key("model").text(document.model.name);
    json.key("mode").text(name(document.model.mode)).line().key("variables");
    write_variables(document, json);
    json.line().key("device").text(device.id);
    number("needed_bytes", fit ? std::optional<Int>(fit->needed) : std::nullopt);
    number("overhead_bytes", overhead_bytes);
    number("usable_bytes", usable_memory_bytes(device));
    json.key("complete").boolean(is_complete(answers)).key("fits");
    // Where something is unknown, only that it does not fit can be said.
    fit && (fit->complete || !fit->fits()) ? json.boolean(fit->fits()) : json.null();
    number("free_bytes", fit ? std::optional<Int>(fit->free()) : std::nullopt);
    number("largest_batch", answers.largest_batch);
    number("longest_length", answers.longest_length);
    json.key("smallest_device");
    const bool is_listed = is_complete(answers) && answers.smallest != nullptr;
    is_listed ? json.text(answers.smallest->id) : json.null();
    json.key("fewest_devices");
    if (is_complete(answers) && answers.fewest) {
      json.begin_object().key("devices").integer(answers.fewest->devices);
      json.key("tensor_parallel_size").integer(answers.fewest->tensor_parallel);
      json.key("pipeline_parallel_size").integer(answers.fewest->pipeline_parallel).end_object();
    } else {
      json.null();
    }
    json.line().key("assumptions").text(assumptions(document, device, overhead_bytes)).end_object();
  }
  return json.line().end_array().take() + "\n";
}

}  // namespace kcharter
