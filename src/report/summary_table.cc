// The summary a person reads on a terminal: what the model is, what it costs in each mode, and
// where in its tree that goes.

#include <fmt/format.h>

#include <algorithm>

#include "kcharter/base/utf8.h"
#include "kcharter/report/summary_formats.h"
#include "kcharter/report/amounts.h"
#include "report/device_figures.h"
#include "report/generation_figures.h"
#include "report/heading.h"
#include "report/parallel_section.h"
#include "report/summary.h"
#include "kcharter/report/text_table.h"

namespace kcharter {
namespace {

constexpr size_t kMaxModules = 14;
constexpr int kMaxDepth = 3;
constexpr size_t kMaxDiagnostics = 8;

// How far a value can be trusted, in one character before it.
std::string_view mark(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact:
      return "";
    case Exactness::kEstimated:
      return "≈ ";
    case Exactness::kLowerBound:
      return "≥ ";
    case Exactness::kAssumed:
      return "~ ";
    case Exactness::kUnknown:
      return "";
  }
  return "";
}

std::string amount(const SummaryEntry& entry) {
  if (!entry.value) return "unknown";
  const bool is_flops = entry.name.ends_with("flops");
  return std::string(mark(entry.quantity.exactness)) +
         (is_flops ? flops_text(*entry.value) : bytes_text(*entry.value));
}

struct Line {
  std::string_view metric;
  std::string_view label;
  bool is_left_out_at_zero = false;
};

constexpr Line kLines[] = {
    {"weight_bytes", "Weights"},
    {"kv_cache_bytes", "KV cache", true},
    {"state_bytes", "State", true},
    {"activation_peak_bytes", "Activation peak"},
    {"cache_copy_bytes", "Cache copies", true},
    {"total_bytes", "Memory"},
    {"flops", "Compute"},
    {"elementwise_flops", "Elementwise"},
    {"weight_read_bytes", "Weights read"},
    {"kv_read_bytes", "Cache read", true},
    {"kv_write_bytes", "Cache written", true},
    {"activation_read_bytes", "Activations read"},
    {"activation_write_bytes", "Activations written"},
};

std::string costs(std::span<const Document> documents, size_t width) {
  std::vector<std::vector<SummaryEntry>> summaries;
  TextTable table(1);
  std::vector<std::string> head = {""};
  for (const Document& document : documents) {
    summaries.push_back(summarize(document));
    head.emplace_back(name(document.model.mode));
  }
  table.add(std::move(head));
  for (const Line& line : kLines) {
    std::vector<std::string> row = {std::string(line.label)};
    bool is_zero = true;
    for (const std::vector<SummaryEntry>& summary : summaries) {
      const SummaryEntry& entry = *std::find_if(
          summary.begin(), summary.end(), [&](const auto& e) { return e.name == line.metric; });
      is_zero = is_zero && entry.value == Int{0};
      row.push_back(amount(entry));
    }
    if (is_zero && line.is_left_out_at_zero) continue;
    if (line.metric == "total_bytes") table.add_rule();
    table.add(std::move(row));
    if (line.metric == "total_bytes") table.add({""});
  }
  return table.to_string(width);
}

// The modules to show: the tree from the top, no deeper than kMaxDepth, level by level until there
// are enough. A module with a single child says nothing that the child does not.
std::vector<std::pair<ModuleId, int>> top_modules(const ModuleTree& tree) {
  std::vector<std::pair<ModuleId, int>> shown = {{ModuleId(0), 0}};
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    std::vector<std::pair<ModuleId, int>> next;
    for (const auto& [id, level] : shown) {
      next.emplace_back(id, level);
      if (level != depth) continue;
      for (const ModuleItem& item : tree[id].items) {
        if (item.module) next.emplace_back(item.module, depth + 1);
      }
    }
    if (next.size() > kMaxModules) break;
    shown = std::move(next);
  }
  return shown;
}

std::string module_label(const Module& module, int depth) {
  std::string label(static_cast<size_t>(depth) * 2, ' ');
  label += printable(module.name.empty() ? "(model)" : module.name);
  if (module.is_stage) label += fmt::format(" × {}", module.repeat);
  return label;
}

// What a module contains, its start where that is long.
std::string kind_text(const std::string& kind) {
  constexpr size_t kWidest = 30;
  const std::string text = printable(kind);
  return text_width(text) <= kWidest ? text : text.substr(0, kWidest - 1) + "…";
}

// Time of each module, and what most of it is spent on; with a device only.
class ModuleTimes {
 public:
  ModuleTimes(const Document& document, const Device* device) {
    if (device == nullptr) return;
    asked_ = true;
    try {
      time_ = time_on(document.model, document.tree, document.estimate, document.values, *device);
    } catch (const ArithmeticError&) {
    }
  }

  std::vector<std::string> head() const {
    return asked_ ? std::vector<std::string>{"Time", "", "limited by"} : std::vector<std::string>();
  }

  std::vector<std::string> cells(ModuleId id) const {
    if (!asked_) return {};
    if (!time_) return {"unknown", "", ""};
    const Time& time = time_->modules[id.index];
    // share_text takes whole numbers.
    const auto picoseconds = [](double seconds) { return static_cast<Int>(seconds * 1e12); };
    const std::string share =
        share_text(picoseconds(time.total), picoseconds(time_->estimate.total));
    return {(time.complete ? "" : "≥ ") + seconds_text(time.total), share,
            std::string(name(time.by))};
  }

 private:
  bool asked_ = false;
  std::optional<ModelTime> time_;
};

void append(std::vector<std::string>& row, std::vector<std::string> cells) {
  for (std::string& cell : cells) row.push_back(std::move(cell));
}

std::string tree_table(const Document& document, const Device* device, size_t width) {
  const ModuleTree& tree = document.tree;
  const auto shown = top_modules(tree);
  if (shown.size() < 2) return "";
  const auto value = [&](ModuleId id, Metric metric) {
    return value_of(document.estimate.modules[id.index][metric], document.values);
  };
  // Times take the place of kinds: both together are wider than most terminals.
  const bool has_kinds = device == nullptr;
  TextTable table(has_kinds ? 2 : 1);
  const ModuleTimes times(document, device);
  std::vector<std::string> head = {"Module"};
  if (has_kinds) head.emplace_back("Kind");
  append(head, {"Weights", "", "Compute", ""});
  append(head, times.head());
  table.add(std::move(head));
  for (const auto& [id, depth] : shown) {
    std::vector<std::string> row = {module_label(tree[id], depth)};
    if (has_kinds) row.push_back(kind_text(tree[id].kind));
    for (const Metric metric : {Metric::kWeightBytes, Metric::kFlops}) {
      const auto part = value(id, metric);
      const auto whole = value(ModuleId(0), metric);
      row.push_back(!part                      ? "unknown"
                    : metric == Metric::kFlops ? flops_text(*part)
                                               : bytes_text(*part));
      row.push_back(part && whole ? share_text(*part, *whole) : "");
    }
    append(row, times.cells(id));
    table.add(std::move(row));
  }
  return fmt::format("\n  {}:\n", name(document.model.mode)) + table.to_string(width);
}

std::string remarks(std::span<const Document> documents) {
  Diagnostics together;
  for (const Document& document : documents) {
    for (const Diagnostic& diagnostic : all_diagnostics(document)) {
      if (diagnostic.severity == Severity::kNote) continue;
      together.add(diagnostic.severity, diagnostic.code, diagnostic.subject, diagnostic.message);
    }
  }
  std::string text;
  const std::vector<Diagnostic>& all = together.all();
  for (size_t i = 0; i < all.size() && i < kMaxDiagnostics; ++i) {
    text += fmt::format("  {}: {}: {}\n", name(all[i].severity), printable(all[i].subject),
                        printable(all[i].message));
  }
  if (all.size() > kMaxDiagnostics) {
    text += fmt::format("  … {} more in the document\n", all.size() - kMaxDiagnostics);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string summary_table(std::span<const Document> documents, size_t width,
                          const OnDevice& asked) {
  if (documents.empty()) return "";
  const Document& last = documents.back();
  std::string text = heading(documents) + "\n" + costs(documents, width);
  text += parallel_section(documents, asked.device, width);
  if (asked.device != nullptr) {
    text += device_section(documents, *asked.device, width);
    if (asked.request && documents.size() > 1 && is_pair(documents[0], documents[1])) {
      text += generation_section(documents[0], documents[1], asked, width);
    }
    text += assumptions_text(last, *asked.device, width);
  }
  return text + tree_table(last, asked.device, width) + remarks(documents) + "\n";
}

}  // namespace kcharter
