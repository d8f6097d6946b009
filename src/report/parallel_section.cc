#include "report/parallel_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kcharter/report/amounts.h"
#include "report/summary.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

constexpr std::pair<std::string_view, const char*> kRows[] = {
    {"weight_bytes", "Weights"},
    {"kv_cache_bytes", "KV cache"},
    {"state_bytes", "State"},
    {"activation_peak_bytes", "Activations"},
    {"cache_copy_bytes", "Copies"},
    {"total_bytes", "Total"},
    {"weight_read_bytes", "Weights read"},
    {"flops", "Compute"},
};

constexpr std::pair<Collective, const char*> kSent[] = {
    {Collective::kAllReduce, "Sent by all-reduce"},
    {Collective::kAllGather, "Sent by all-gather"},
    {Collective::kAllToAll, "Sent by all-to-all"},
    {Collective::kPointToPoint, "Sent to the next stage"},
};

std::string amount_text(std::string_view name, std::optional<Int> value) {
  if (!value) return "unknown";
  return name == "flops" ? flops_text(*value) : bytes_text(*value);
}

std::string sent_text(const Document& document, const Communication& sent) {
  const auto bytes = value_of(sent.bytes, document.values);
  const auto calls = value_of(sent.calls, document.values);
  if (!bytes) return "unknown";
  return bytes_text(*bytes) + (calls ? fmt::format(" in {}", grouped_digits(*calls)) : "");
}

void add_sent(TextTable& table, std::span<const Document> documents) {
  for (const auto& [operation, label] : kSent) {
    std::vector<std::string> row = {label};
    bool is_zero = true;
    for (const Document& document : documents) {
      for (const Communication& sent : document.estimate.parallel.communication) {
        if (sent.operation != operation) continue;
        is_zero = is_zero && value_of(sent.bytes, document.values) == Int{0};
        row.push_back(sent_text(document, sent));
      }
    }
    if (!is_zero && row.size() == documents.size() + 1) table.add(std::move(row));
  }
}

}  // namespace

std::string parallel_section(std::span<const Document> documents, const Device* device,
                             size_t width) {
  const Document& last = documents.back();
  if (!has_several_devices(last.values)) return "";
  TextTable table(1);
  const auto devices = value_of({last.estimate.parallel.devices}, last.values);
  std::vector<std::string> head = {"One of " + (devices ? grouped_digits(*devices) : "?") +
                                   " devices"};
  std::vector<std::vector<SummaryEntry>> summaries;
  for (const Document& document : documents) {
    head.emplace_back(name(document.model.mode));
    summaries.push_back(summarize_device(document));
  }
  table.add(std::move(head));
  for (const auto& [metric, label] : kRows) {
    std::vector<std::string> row = {label};
    bool is_zero = true;
    for (const std::vector<SummaryEntry>& summary : summaries) {
      const SummaryEntry& entry = *std::find_if(summary.begin(), summary.end(),
                                                [&](const auto& e) { return e.name == metric; });
      is_zero = is_zero && entry.value == Int{0};
      row.push_back(amount_text(metric, entry.value));
    }
    if (is_zero) continue;
    if (metric == "total_bytes") table.add_rule();
    table.add(std::move(row));
  }
  add_sent(table, documents);
  if (device != nullptr && device->link_bytes_per_second) {
    std::vector<std::string> row = {"Time to send, at least"};
    for (const Document& document : documents) {
      const auto seconds =
          communication_seconds(document.estimate.parallel, document.values, *device);
      row.push_back(seconds ? seconds_text(*seconds) : "unknown");
    }
    table.add(std::move(row));
  }
  return "\n" + table.to_string(width);
}

}  // namespace kcharter
