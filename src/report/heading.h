// The first lines of a table about one model: what it is, and the variables as set.
#pragma once

#include <span>
#include <string>

#include "kcharter/report/document.h"

namespace kcharter {

// `documents` are those of one model, at least one.
std::string heading(std::span<const Document> documents);

}  // namespace kcharter
