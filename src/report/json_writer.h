// JsonWriter: JSON text built piece by piece into one string. A document of a large graph has tens
// of thousands of small objects; a tree of them would take longer to build than the analysis.
//
//   JsonWriter json;
//   json.begin_object().key("name").text("x").key("dims").begin_array().integer(3).end_array();
//   json.end_object().take();   // {"name":"x","dims":[3]}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/base/integer.h"

namespace kcharter {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  // Escaped; bytes that are not UTF-8 become U+FFFD.
  JsonWriter& text(std::string_view value);
  // Past 2^53-1 a decimal string, which every reader takes without loss.
  JsonWriter& integer(Int value);
  // The shortest text that reads back as the same double; null where it is not finite.
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // `json` as it stands.
  JsonWriter& raw(std::string_view json);
  // The next value, key or bracket stands on a line of its own.
  JsonWriter& line();

  const std::string& view() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void separate();

  std::string out_;
  bool needs_comma_ = false;
  bool needs_line_ = false;
};

// `value` as a JSON string, quotes included.
std::string json_quote(std::string_view value);

}  // namespace kcharter
