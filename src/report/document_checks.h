// What no schema can say of a document: references in range, formulas that parse over its
// variables, sums that add up, values that are their formula's.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kcharter {

// `document` has the form of the schema. Adds up to kMaxProblems (json_schema.h).
void check_document(const nlohmann::json& document, std::vector<std::string>* problems);

}  // namespace kcharter
