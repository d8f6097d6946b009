#include "report/json_writer.h"

#include <charconv>
#include <cmath>

namespace kcharter {
namespace {

constexpr Int kLargestNumber = (Int{1} << 53) - 1;

// Length of the UTF-8 sequence at the start of `text`; 0 where there is none (RFC 3629, table of
// §4).
size_t sequence_length(std::string_view text) {
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

void append_control(unsigned char c, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '\n':
      *out += "\\n";
      break;
    case '\t':
      *out += "\\t";
      break;
    case '\r':
      *out += "\\r";
      break;
    default:
      *out += "\\u00";
      *out += kHex[c >> 4];
      *out += kHex[c & 15];
  }
}

void append_quoted(std::string_view value, std::string* out) {
  *out += '"';
  for (size_t i = 0; i < value.size();) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (c < 0x20 || c == 0x7F) {
      append_control(c, out);
      ++i;
    } else if (c == '"' || c == '\\') {
      *out += '\\';
      *out += value[i++];
    } else if (const size_t length = sequence_length(value.substr(i)); length > 0) {
      out->append(value, i, length);
      i += length;
    } else {
      *out += "\xEF\xBF\xBD";
      ++i;
    }
  }
  *out += '"';
}

}  // namespace

std::string json_quote(std::string_view value) {
  std::string out;
  append_quoted(value, &out);
  return out;
}

void JsonWriter::separate() {
  if (needs_comma_) out_ += ',';
  if (needs_line_) out_ += '\n';
  needs_comma_ = true;
  needs_line_ = false;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  out_ += '{';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  needs_comma_ = false;
  separate();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  out_ += '[';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  needs_comma_ = false;
  separate();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_quoted(name, &out_);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  append_quoted(value, &out_);
  return *this;
}

JsonWriter& JsonWriter::integer(Int value) {
  separate();
  const bool is_large = value > kLargestNumber || value < -kLargestNumber;
  if (is_large) out_ += '"';
  out_ += to_string(value);
  if (is_large) out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out_.append(buffer, end);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::line() {
  needs_line_ = true;
  return *this;
}

}  // namespace kcharter
