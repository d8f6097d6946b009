#include "kcharter/report/peak_table.h"

#include <fmt/format.h>

#include <vector>

#include "kcharter/base/utf8.h"
#include "kcharter/report/text_table.h"
#include "kcharter/report/amounts.h"
#include "report/summary.h"

namespace kcharter {
namespace {

constexpr size_t kMostValues = 12;
constexpr size_t kWidestName = 48;

std::string short_name(const std::string& name) {
  return shortened_to(printable(name), kWidestName);
}

std::string node_name(const Document& document, NodeId node, const char* none) {
  if (!node) return none;
  const Node& known = document.model.graph[node];
  return short_name(known.name.empty() ? known.op_type : known.name);
}

std::string module_path(const Document& document, const LiveValue& live) {
  const NodeId maker = live.birth ? live.birth : live.death;
  if (!maker) return "";
  const NodeId shown = document.tree.template_of_node[maker.index];
  return short_name(document.tree[document.tree.module_of_node[shown.index]].path);
}

std::string size_text(const Quantity& quantity, const Document& document) {
  const auto value = value_of(quantity, document.values);
  return value ? bytes_text(*value) : "unknown";
}

std::string values_alive(const Document& document, size_t width) {
  const std::vector<LiveValue>& alive = document.estimate.alive_at_peak;
  TextTable table(4);
  table.add({"Value", "Module", "From", "Until", "Size"});
  for (size_t i = 0; i < alive.size() && i < kMostValues; ++i) {
    table.add({short_name(document.model.graph[alive[i].value].name),
               module_path(document, alive[i]), node_name(document, alive[i].birth, "the start"),
               node_name(document, alive[i].death, "the end"),
               size_text(alive[i].bytes, document)});
  }
  if (alive.size() > kMostValues) {
    table.add({fmt::format("{} more", alive.size() - kMostValues), "", "", "", ""});
  }
  return table.to_string(width);
}

}  // namespace

std::string peak_table(std::span<const Document> documents, size_t width) {
  std::string text;
  for (const Document& document : documents) {
    const Estimate& estimate = document.estimate;
    const Quantity& peak = estimate.summary[Metric::kActivationPeakBytes];
    text +=
        fmt::format("  {}: activation peak {} at {}", name(document.model.mode),
                    size_text(peak, document), node_name(document, estimate.peak_node, "no node"));
    if (estimate.packed_peak_bytes) {
      text += fmt::format("; placed by best fit {}", bytes_text(*estimate.packed_peak_bytes));
    }
    text += '\n';
    const auto scratch = value_of(estimate.scratch_at_peak, document.values);
    if (!scratch || *scratch > 0) {
      text += fmt::format("  The node needs {} besides.\n",
                          size_text(estimate.scratch_at_peak, document));
    }
    text += values_alive(document, width) + "\n";
  }
  return text;
}

}  // namespace kcharter
