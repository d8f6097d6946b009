#include "report/device_figures.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "kcharter/report/amounts.h"
#include "report/summary.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

std::string time_text(const DeviceFigures& figures) {
  if (!figures.time) return "unknown";
  return (figures.time->complete ? "" : "≥ ") + seconds_text(figures.time->estimate.total);
}

std::string bound_text(const DeviceFigures& figures) {
  return figures.time ? seconds_text(figures.time->bound) : "unknown";
}

std::string limit_text(const DeviceFigures& figures) {
  return figures.time ? std::string(name(figures.time->estimate.by)) : "unknown";
}

std::string speed_text(const DeviceFigures& figures) {
  if (!figures.time || !figures.time->complete) return "unknown";
  return count_text(static_cast<Int>(figures.tokens_per_second + 0.5));
}

std::string batch_text(const DeviceFigures& figures) {
  return figures.largest_batch ? grouped_digits(*figures.largest_batch) : "—";
}

std::string memory_text(const DeviceFigures& figures) { return fit_text(figures.fit); }

}  // namespace

std::string fit_text(const std::optional<Fit>& fit) {
  if (!fit) return "unknown";
  const Int free = fit->free();
  if (free < 0) return "does not fit, " + bytes_text(-free) + " too much";
  if (!fit->complete) return "unknown";
  return bytes_text(free) + " left";
}

DeviceFigures device_figures(const Document& document, const Device& device) {
  DeviceFigures figures;
  try {
    figures.time =
        time_on(document.model, document.tree, document.estimate, document.values, device);
    const bool is_decode = document.model.mode == Mode::kDecode;
    const bool has_length = used_variables({&document, 1}).contains(std::string(kCurrentLength));
    const Int tokens =
        is_decode || !has_length ? Int{1} : document.values.find(kCurrentLength)->second;
    const Int all = checked_mul(tokens, document.values.find(kBatchSize)->second);
    const double seconds = figures.time->estimate.total;
    if (seconds > 0) figures.tokens_per_second = static_cast<double>(all) / seconds;
  } catch (const ArithmeticError&) {
    figures.time.reset();
  }
  figures.fit = fit(document.estimate, document.values, device);
  figures.largest_batch = largest_batch(document.estimate, document.values, device);
  return figures;
}

std::string device_section(std::span<const Document> documents, const Device& device,
                           size_t width) {
  std::vector<DeviceFigures> figures;
  TextTable table(1);
  std::vector<std::string> head = {"On " + device.id};
  for (const Document& document : documents) {
    figures.push_back(device_figures(document, device));
    head.emplace_back(name(document.model.mode));
  }
  table.add(std::move(head));
  const bool has_length = used_variables(documents).contains(std::string(kCurrentLength));
  const std::pair<const char*, std::function<std::string(const DeviceFigures&)>> rows[] = {
      {"Time of a step", time_text},
      {"  never below", bound_text},
      {"  limited by", limit_text},
      {has_length ? "Tokens per second" : "Inputs per second", speed_text},
      {"Memory", memory_text},
      {"Largest batch", batch_text},
  };
  for (const auto& [label, text] : rows) {
    std::vector<std::string> row = {label};
    for (const DeviceFigures& figure : figures) row.push_back(text(figure));
    table.add(std::move(row));
  }
  return "\n" + table.to_string(width);
}

void write_device(const Document& document, const Device& device, JsonWriter& json) {
  const DeviceFigures figures = device_figures(document, device);
  json.begin_object().key("name").text(device.id).key("seconds");
  figures.time ? json.real(figures.time->estimate.total) : json.null();
  json.key("seconds_bound");
  figures.time ? json.real(figures.time->bound) : json.null();
  json.key("limited_by").text(limit_text(figures)).key("complete");
  json.boolean(figures.time && figures.time->complete).key("fits");
  figures.fit ? json.boolean(figures.fit->fits()) : json.null();
  json.key("free_bytes");
  figures.fit ? json.integer(figures.fit->free()) : json.null();
  json.key("largest_batch");
  figures.largest_batch ? json.integer(*figures.largest_batch) : json.null();
  json.end_object();
}

}  // namespace kcharter
