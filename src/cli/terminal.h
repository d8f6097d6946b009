#pragma once

#include <cstddef>

namespace kcharter {

// Columns of the terminal: $COLUMNS, else what the terminal says, else 100.
size_t terminal_width();

}  // namespace kcharter
