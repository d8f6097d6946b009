#include "kcharter/base/utf8.h"

namespace kcharter {

// RFC 3629, table of §4.
size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool is_overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool is_surrogate = first == 0xED && byte(1) > 0x9F;
    return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool is_outside = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return follows(1) && follows(2) && follows(3) && !is_outside ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text) {
  std::string clean;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = utf8_sequence_length(text.substr(i));
    // U+0080 to U+009F are control characters too: terminals obey them.
    const bool is_control =
        c < 0x20 || c == 0x7F || (c == 0xC2 && length == 2 && text[i + 1] < '\xA0');
    if (length == 0) {
      clean += '?';
    } else if (is_control) {
      clean += ' ';
    } else {
      clean.append(text, i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return clean;
}

}  // namespace kcharter
