// A checker for the part of JSON Schema (2020-12) that schemas/*.json use: type, const, enum,
// properties, required, additionalProperties, items, prefixItems, minItems, maxItems, minimum,
// pattern of decimal integers, anyOf, $ref to "#/$defs/…".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kcharter {

inline constexpr size_t kMaxProblems = 50;

// Adds what is wrong with `value`, each with its place, until there are kMaxProblems.
void check_schema(const nlohmann::json& value, const nlohmann::json& schema,
                  std::vector<std::string>* problems);

}  // namespace kcharter
