// The activation peak explained: the values alive at it, for a terminal.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kcharter/report/document.h"

namespace kcharter {

// Per document the node where the peak is, the largest values alive there with module, size, birth and
// death, what the node needs besides, and the peak between its bounds: the largest live sum and where
// a best-fit allocator ends.
std::string peak_table(std::span<const Document> documents, size_t width);

}  // namespace kcharter
