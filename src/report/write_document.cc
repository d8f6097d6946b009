// to_json: the document of schemas/README.md. The order of members is fixed here; everything else
// follows the order of the model, so that the same input gives the same bytes.

#include <algorithm>

#include "kcharter/base/version.h"
#include "report/conventions.h"
#include "report/document_ids.h"
#include "report/formula_table.h"
#include "report/json_writer.h"
#include "report/summary.h"
#include "report/write_tables.h"

namespace kcharter {
namespace {

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
    json.key("value").integer(variable.value).key("min").integer(variable.min).end_object();
  }
  json.end_array();
}

void write_summary(const std::vector<SummaryEntry>& summary, JsonWriter& json) {
  json.begin_object();
  for (const SummaryEntry& entry : summary) {
    json.line().key(entry.name).begin_object().key("formula");
    entry.quantity.formula ? json.text(entry.quantity.formula->to_string()) : json.null();
    json.key("value");
    entry.value ? json.integer(*entry.value) : json.null();
    json.key("exactness").text(name(entry.quantity.exactness));
    json.key("source").text(name(entry.quantity.source)).end_object();
  }
  json.end_object();
}

void write_diagnostics(const std::vector<Diagnostic>& diagnostics, JsonWriter& json) {
  json.begin_array();
  for (const Diagnostic& diagnostic : diagnostics) {
    json.line().begin_object().key("severity").text(name(diagnostic.severity));
    json.key("code").text(diagnostic.code).key("subject").text(diagnostic.subject);
    json.key("message").text(diagnostic.message).key("count").integer(diagnostic.count);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_json(const Document& document) {
  const DocumentIds ids = number_document(document);
  FormulaTable formulas;
  JsonWriter tables;
  // Written first, since `formulas` stands before the tables whose formulas it collects.
  TableWriter table{document, ids, formulas, tables};
  tables.begin_object();
  tables.line().key("modules");
  table.modules();
  tables.line().key("nodes");
  table.nodes();
  tables.line().key("values");
  table.values();
  tables.line().key("tensors");
  table.tensors();
  tables.line().key("caches");
  table.caches();
  tables.line().key("peak");
  table.peak();
  tables.line().end_object();

  JsonWriter json;
  json.begin_object().key("schema").text("kcharter.document").key("schema_version").text("1.0");
  json.line().key("generator").begin_object().key("name").text("kcharter");
  json.key("version").text(version()).end_object().line().key("model");
  write_model(document, json);
  json.line().key("mode").text(name(document.model.mode)).line().key("variables");
  write_variables(document, json);
  json.line().key("bindings").begin_object();
  for (const auto& [symbol, formula] : document.model.bindings) {
    json.key(symbol).text(formula.to_string());
  }
  json.end_object().line().key("conventions").begin_object();
  for (const auto& [subject, sentence] : conventions(document)) {
    json.line().key(subject).text(sentence);
  }
  json.end_object().line().key("summary");
  write_summary(summarize(document), json);
  json.line().key("formulas").begin_array();
  for (const std::string& formula : formulas.texts()) json.line().text(formula);
  json.end_array();
  // The tables without the brace that opened them.
  json.line().raw(std::string_view(tables.view()).substr(2, tables.view().size() - 4));
  json.line().key("diagnostics");
  write_diagnostics(all_diagnostics(document), json);
  return json.line().end_object().take() + "\n";
}

}  // namespace kcharter
