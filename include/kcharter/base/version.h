// The version of this program, as `kcharter --version` and every document's `generator` give it.
#pragma once

#include <string_view>

namespace kcharter {

std::string_view version();  // "0.1.0"

}  // namespace kcharter
