// The table of patterns.
#pragma once

#include <span>

#include "advise/pattern.h"

namespace kcharter {

struct Pattern {
  PatternText text;
  Detect detect;
};

// In the order of the search: what an earlier one finds, a later one takes as found.
std::span<const Pattern> pattern_table();

}  // namespace kcharter
