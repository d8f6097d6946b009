#include "report/write_findings.h"

#include <algorithm>
#include <vector>

namespace kcharter {
namespace {

using Patterns = std::vector<const PatternText*>;

Patterns patterns_of(const Advice& advice) {
  Patterns patterns;
  for (const Finding& finding : advice.findings) {
    if (std::find(patterns.begin(), patterns.end(), finding.pattern) == patterns.end()) {
      patterns.push_back(finding.pattern);
    }
  }
  return patterns;
}

void write_pattern(const PatternText& pattern, JsonWriter& json) {
  json.line().begin_object().key("id").text(pattern.id).key("what").text(pattern.what);
  json.key("why").text(pattern.why).key("remedy").text(pattern.remedy).key("mended_by");
  pattern.mended_by.empty() ? json.null() : json.text(pattern.mended_by);
  json.key("promise").text(name(pattern.promise)).key("sure").text(name(pattern.sure));
  json.end_object();
}

void write_saving(const Saving& saving, TableWriter& table) {
  JsonWriter& json = table.json;
  json.begin_object();
  table.quantity("launches", saving.launches);
  for (size_t i = 0; i < kMetricCount; ++i) {
    const Quantity& quantity = saving.metrics.all[i];
    if (quantity.formula && quantity.formula->is_zero()) continue;
    table.quantity(name(static_cast<Metric>(i)), quantity);
  }
  json.key("peak_bytes");
  saving.peak_bytes ? json.integer(*saving.peak_bytes) : json.null();
  json.end_object();
}

void write_finding(const Finding& finding, const Patterns& patterns, TableWriter& table) {
  JsonWriter& json = table.json;
  const auto pattern = std::find(patterns.begin(), patterns.end(), finding.pattern);
  json.line().begin_object().key("pattern").integer(Int{pattern - patterns.begin()});
  json.key("detail").text(finding.detail).key("module").integer(Int{finding.module.index});
  json.key("nodes").begin_array();
  for (const NodeId node : finding.nodes) {
    if (const auto number = table.ids.nodes.find(node.index)) json.integer(Int{*number});
  }
  json.end_array().key("sites").integer(finding.sites).key("counted").boolean(finding.counted);
  json.key("saves");
  write_saving(finding.saves, table);
  json.end_object();
}

}  // namespace

void write_findings(TableWriter& table) {
  JsonWriter& json = table.json;
  const Advice& advice = table.document.advice;
  const Patterns patterns = patterns_of(advice);
  json.begin_object().line().key("patterns").begin_array();
  for (const PatternText* pattern : patterns) write_pattern(*pattern, json);
  json.end_array().line().key("items").begin_array();
  for (const Finding& finding : advice.findings) write_finding(finding, patterns, table);
  json.end_array().line().key("total");
  write_saving(advice.total, table);
  json.end_object();
}

}  // namespace kcharter
