// What was counted how, in sentences, so that a number can be compared with another tool's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kcharter/report/document.h"

namespace kcharter {

// Name of a metric (or "model_1" …, what the importer took for granted) and a sentence.
std::vector<std::pair<std::string, std::string>> conventions(const Document& document);

}  // namespace kcharter
