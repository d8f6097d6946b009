// What a runtime makes of the names of nodes, undone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

// Names that `name` may have been made from, the most likely first, without itself: the runtime's
// suffixes and prefixes taken off one by one.
std::vector<std::string> names_before(std::string_view name);

// Whether a runtime gave the name for want of one: a fused or added operator called after its
// operator and, at the most, a number ("BiasGelu_token_7", "Cast_0").
bool is_made_up(std::string_view name);

}  // namespace kcharter
