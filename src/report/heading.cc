#include "report/heading.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kcharter/base/utf8.h"
#include "kcharter/report/amounts.h"
#include "report/summary.h"

namespace kcharter {
namespace {

std::string model_line(const Document& document) {
  const Model& model = document.model;
  const Estimate& estimate = document.estimate;
  std::string text = printable(model.name);
  const auto add = [&](const std::string& part) { text += "  ·  " + part; };
  if (!model.architecture.empty()) add(printable(model.architecture));
  add(std::string(name(model.format)));
  std::string parameters = count_text(estimate.parameters) + " parameters";
  if (!tensors_known(document)) parameters = "tensors unknown";
  if (estimate.active_parameters != estimate.parameters) {
    parameters += " (" + count_text(estimate.active_parameters) + " active)";
  }
  add(parameters);
  std::vector<std::pair<Int, std::string>> dtypes;
  for (const auto& [dtype, total] : estimate.dtypes) dtypes.emplace_back(-total.bytes, dtype);
  std::sort(dtypes.begin(), dtypes.end());
  std::string listed;
  for (size_t i = 0; i < dtypes.size() && i < 3; ++i) listed += (i ? " + " : "") + dtypes[i].second;
  if (!listed.empty()) add(listed);
  return text + "\n";
}

// Only what matters to this model: an image network has no length.
std::string settings(std::span<const Document> documents) {
  const std::set<std::string> used = used_variables(documents);
  std::string text = " ";
  for (const Variable& variable : document_variables(documents.back())) {
    const std::string_view group = group_of(variable.name);
    if (group == "cache") continue;
    if (group == "parallel" ? variable.value <= 1 || variable.name == kPipelineStage
                : !used.contains(variable.name)) {
      continue;
    }
    text += fmt::format(" {} {} ", printable(variable.name), grouped_digits(variable.value));
  }
  return text.size() == 1 ? "" : text.substr(0, text.size() - 1) + "\n";
}

}  // namespace

std::string heading(std::span<const Document> documents) {
  return model_line(documents.back()) + settings(documents);
}

}  // namespace kcharter
