// JSON from elsewhere may nest without end, and what walks it recurses.
#pragma once

#include <string_view>

namespace kcharter {

// Whether brackets nest deeper than any document of ours.
bool nests_too_deep(std::string_view json);

}  // namespace kcharter
