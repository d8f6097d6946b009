#include "report/json_writer.h"

#include <charconv>
#include <cmath>

#include "kcharter/base/utf8.h"

namespace kcharter {
namespace {

constexpr Int kLargestNumber = (Int{1} << 53) - 1;

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
    } else if (const size_t length = utf8_sequence_length(value.substr(i)); length > 0) {
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
