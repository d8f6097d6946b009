#include "report/device_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>
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

// Empty where it is the same.
std::string expected_bound_text(const DeviceFigures& figures) {
  if (!figures.time || figures.time->bound_of_expected_experts == figures.time->bound) return "";
  return seconds_text(figures.time->bound_of_expected_experts);
}

// Empty where there is none.
std::string band_text(const DeviceFigures& figures) {
  // What is only a lower bound has no upper end.
  if (!figures.time || !figures.time->complete || figures.time->low >= figures.time->high) return "";
  return seconds_text(figures.time->low) + " – " + seconds_text(figures.time->high);
}

std::string limit_text(const DeviceFigures& figures) {
  const bool is_known = figures.time && figures.time->complete;
  return is_known ? std::string(name(figures.time->estimate.by)) : "unknown";
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

namespace {

// The dtypes that products are computed in, with the peak of each.
std::string peaks_text(const Document& document, const Device& device) {
  std::set<DType> dtypes;
  for (size_t i = 0; i < document.estimate.nodes.size(); ++i) {
    const Quantity& flops = document.estimate.nodes[i][Metric::kFlops];
    if (flops.formula && !flops.formula->is_zero())
      dtypes.insert(document.estimate.compute_dtypes[i]);
  }
  std::string text;
  for (const DType dtype : dtypes) {
    const auto peak = peak_operations_per_second(device, dtype);
    if (!peak) continue;
    text += fmt::format("{}{} {:.4g} TFLOP/s", text.empty() ? "" : ", ", name(dtype), *peak / 1e12);
  }
  if (text.empty()) return "no products whose work is known";
  if (!device.accumulate.empty()) text += " (" + device.accumulate + ")";
  return "dense peak " + text;
}

std::string caches_text(const Document& document) {
  std::set<std::string> formats;
  for (const Cache& cache : document.model.graph.caches) {
    if (cache.kind != CacheKind::kState) formats.insert(cache.format.name);
  }
  std::string text;
  for (const std::string& format : formats) text += (text.empty() ? "" : ", ") + format;
  return text;
}

bool has_experts(const Document& document) {
  return document.estimate.active_parameters != document.estimate.parameters;
}

}  // namespace

std::vector<std::string> time_assumptions(const Document& document, const Device& device) {
  std::vector<std::string> all = {peaks_text(document, device)};
  all.emplace_back(
      "weights and cache come from memory in each step, none from a cache of the chip");
  all.emplace_back("fused causal attention counts the pairs it needs, about half");
  if (const std::string caches = caches_text(document); !caches.empty())
    all.push_back("cache stored as " + caches);
  if (has_experts(document)) {
    all.emplace_back(
        "experts: the bound takes those of one token, the estimate as many distinct ones as even "
        "routing gives");
  }
  all.emplace_back("one device; communication is not counted");
  all.push_back(device.calibrated
                    ? "efficiencies measured on the device"
                    : fmt::format("efficiencies of its class ({}): measured times lie within "
                                  "{:.2g} to {:.2g} of estimates",
                                  device.efficiency_class, device.band.low, device.band.high));
  return all;
}

std::string assumptions_text(const Document& document, const Device& device, size_t width) {
  std::string text = "\n";
  std::string line = "  Assumed:";
  for (const std::string& assumption : time_assumptions(document, device)) {
    std::istringstream words(assumption + ";");
    for (std::string word; words >> word;) {
      if (text_width(line) + 1 + text_width(word) > width) {
        text += line + "\n";
        line = "   ";
      }
      line += " " + word;
    }
  }
  line.back() = '.';
  return text + line + "\n";
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
      {"  with experts as expected", expected_bound_text},
      {"  measured ones lie in", band_text},
      {"  limited by", limit_text},
      {has_length ? "Tokens per second" : "Inputs per second", speed_text},
      {"Memory", memory_text},
      {"Largest batch", batch_text},
  };
  for (const auto& [label, text] : rows) {
    const bool is_shown =
        std::any_of(figures.begin(), figures.end(),
                    [&](const DeviceFigures& figure) { return !text(figure).empty(); });
    if (!is_shown) continue;
    std::vector<std::string> row = {label};
    for (const DeviceFigures& figure : figures) row.push_back(text(figure));
    table.add(std::move(row));
  }
  return "\n" + table.to_string(width);
}

void write_device(const Document& document, const Device& device, JsonWriter& json) {
  const DeviceFigures figures = device_figures(document, device);
  const auto seconds = [&](const char* key, double ModelTime::*member) {
    json.key(key);
    figures.time ? json.real((*figures.time).*member) : json.null();
  };
  const auto part = [&](const char* key, double Time::*member) {
    json.key(key);
    figures.time ? json.real(figures.time->estimate.*member) : json.null();
  };
  json.begin_object().key("name").text(device.id);
  part("seconds", &Time::total);
  seconds("seconds_low", &ModelTime::low);
  seconds("seconds_high", &ModelTime::high);
  part("seconds_of_launches", &Time::launch);
  part("seconds_bound_by_compute", &Time::spent_on_compute);
  part("seconds_bound_by_memory", &Time::spent_on_memory);
  seconds("seconds_bound", &ModelTime::bound);
  seconds("seconds_bound_of_expected_experts", &ModelTime::bound_of_expected_experts);
  json.key("limited_by").text(figures.time ? name(figures.time->estimate.by) : "unknown").key("complete");
  json.boolean(figures.time && figures.time->complete).key("tokens_per_second");
  figures.time ? json.real(figures.tokens_per_second) : json.null();
  json.key("fits");
  figures.fit ? json.boolean(figures.fit->fits()) : json.null();
  json.key("free_bytes");
  figures.fit ? json.integer(figures.fit->free()) : json.null();
  json.key("largest_batch");
  figures.largest_batch ? json.integer(*figures.largest_batch) : json.null();
  json.line().key("modules").begin_array();
  for (size_t i = 0; figures.time && i < figures.time->modules.size(); ++i) {
    const Time& time = figures.time->modules[i];
    if (time.total == 0) continue;
    json.begin_object().key("path").text(document.tree.modules[i].path);
    json.key("seconds").real(time.total).key("limited_by").text(name(time.by));
    json.key("complete").boolean(time.complete).end_object();
  }
  json.end_array()
      .line()
      .key("calibrated")
      .boolean(device.calibrated)
      .key("assumptions")
      .begin_array();
  for (const std::string& assumption : time_assumptions(document, device)) json.text(assumption);
  json.end_array().end_object();
}

}  // namespace kcharter
