// Text from a model may be anything: what of it is UTF-8, and what may go to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kcharter {

// Bytes of the UTF-8 sequence at the start of `text`; 0 where there is none.
size_t utf8_sequence_length(std::string_view text);

// `text` on one line of a terminal: control characters become spaces, bytes that are no text '?'.
std::string printable(std::string_view text);

}  // namespace kcharter
