// Document: one model in one mode, ready to be written: JSON, self-contained HTML, terminal table.
#pragma once

#include <string>

#include "kcharter/advise/finding.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

struct Document {
  Model model;
  ModuleTree tree;
  Estimate estimate;
  Advice advice;
  EstimateOptions policies;
  Bindings values;  // the variables as set: batch_size, current_length, max_length, free dimensions
};

// The document as JSON (schemas/document-1.schema.json), byte for byte the same for the same input.
std::string to_json(const Document& document);

}  // namespace kcharter
