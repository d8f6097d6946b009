// to_json: the document of schemas/README.md. The order of members is fixed here; everything else
// follows the order of the model, so that the same input gives the same bytes.

#include "kcharter/base/version.h"
#include "report/conventions.h"
#include "report/document_ids.h"
#include "report/document_members.h"
#include "report/formula_table.h"
#include "report/json_writer.h"
#include "report/write_findings.h"
#include "report/write_tables.h"

namespace kcharter {

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
  tables.line().key("findings");
  write_findings(table);
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
  write_summary(document, json);
  json.line().key("parallel");
  write_parallel(document, json);
  json.line().key("formulas").begin_array();
  for (const std::string& formula : formulas.texts()) json.line().text(formula);
  json.end_array();
  // The tables without the brace that opened them.
  json.line().raw(std::string_view(tables.view()).substr(2, tables.view().size() - 4));
  json.line().key("diagnostics");
  write_diagnostics(document, json);
  return json.line().end_object().take() + "\n";
}

}  // namespace kcharter
