#include "report/document_members.h"

#include "report/summary.h"

namespace kcharter {

void write_model(const Document& document, JsonWriter& json) {
  const Model& model = document.model;
  const Estimate& estimate = document.estimate;
  json.begin_object().key("name").text(model.name).key("format").text(name(model.format));
  json.key("architecture");
  model.architecture.empty() ? json.null() : json.text(model.architecture);
  const bool is_known = tensors_known(document);
  const auto count = [&](std::string_view member, Int value) {
    json.key(member);
    is_known ? json.integer(value) : json.null();
  };
  count("parameters", estimate.parameters);
  count("active_parameters", estimate.active_parameters);
  count("stored_elements", estimate.stored_elements);
  json.key("context_limit");
  model.context_limit ? json.integer(*model.context_limit) : json.null();
  json.key("dtypes").begin_object();
  for (const auto& [dtype, total] : estimate.dtypes) {
    json.key(dtype).begin_object().key("tensors").integer(total.tensors);
    json.key("bytes").integer(total.bytes).end_object();
  }
  json.end_object().key("weight_parts").begin_object();
  for (const auto& [part, bytes] : estimate.weight_parts) json.key(part).integer(bytes);
  json.end_object().end_object();
}

void write_variables(const Document& document, JsonWriter& json) {
  json.begin_array();
  for (const Variable& variable : document_variables(document)) {
    json.line().begin_object().key("name").text(variable.name).key("label").text(variable.label);
    json.key("value").integer(variable.value).key("min").integer(variable.min);
    const std::string_view group = group_of(variable.name);
    if (!group.empty()) json.key("group").text(group);
    json.end_object();
  }
  json.end_array();
}

void write_spelled(const Quantity& quantity, std::optional<Int> value, JsonWriter& json) {
  json.begin_object().key("formula");
  quantity.formula ? json.text(quantity.formula->to_string()) : json.null();
  json.key("value");
  value ? json.integer(*value) : json.null();
  json.key("exactness").text(name(quantity.exactness));
  json.key("source").text(name(quantity.source)).end_object();
}

void write_entries(const std::vector<SummaryEntry>& entries, JsonWriter& json) {
  json.begin_object();
  for (const SummaryEntry& entry : entries) {
    json.line().key(entry.name);
    write_spelled(entry.quantity, entry.value, json);
  }
  json.end_object();
}

void write_summary(const Document& document, JsonWriter& json) {
  write_entries(summarize(document), json);
}

void write_diagnostics(const Document& document, JsonWriter& json) {
  json.begin_array();
  for (const Diagnostic& diagnostic : all_diagnostics(document)) {
    json.line().begin_object().key("severity").text(name(diagnostic.severity));
    json.key("code").text(diagnostic.code).key("subject").text(diagnostic.subject);
    json.key("message").text(diagnostic.message).key("count").integer(diagnostic.count);
    json.end_object();
  }
  json.end_array();
}

}  // namespace kcharter
