// The large tables of a document: modules, nodes, values, tensors, caches, peak; a row a line.
#pragma once

#include "kcharter/report/document.h"
#include "report/document_ids.h"
#include "report/formula_table.h"
#include "report/json_writer.h"

namespace kcharter {

struct TableWriter {
  const Document& document;
  const DocumentIds& ids;
  FormulaTable& formulas;
  JsonWriter& json;

  void modules();
  void nodes();
  void values();
  void tensors();
  void caches();
  void peak();
  void quantity(std::string_view key, const Quantity& quantity);

 private:
  void module(uint32_t id);
  void node(uint32_t id, const std::vector<uint32_t>& stood_for);
  void value(uint32_t number, std::string_view role, const std::vector<uint32_t>& consumers,
             const std::vector<uint32_t>& stood_for);
  void tensor(uint32_t number);
  void cache(uint32_t number, std::optional<ModuleId> module);
  void stage(const Module& module);
  void attributes(const Node& node);
  void metrics(const Metrics& metrics);
  void formula(const std::optional<Expr>& formula);
  // A number of `table`, or null.
  void reference(const Numbering& table, uint32_t graph_id);
  void references(const Numbering& table, const std::vector<ValueId>& values);
};

}  // namespace kcharter
