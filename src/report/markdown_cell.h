// A cell of a markdown table: names from a model enter it as text.
#pragma once

#include <string>
#include <string_view>

namespace kcharter {

std::string markdown_cell(std::string_view text);

}  // namespace kcharter
