// TextTable: columns of text, aligned; widths are counted in characters, not bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

class TextTable {
 public:
  // The first `left_columns` are aligned left, the others right.
  explicit TextTable(size_t left_columns) : left_columns_(left_columns) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void add_rule() { rows_.emplace_back(); }
  // Two spaces before each row and between columns. The first column gives way where `width` is
  // less than what the table needs.
  std::string to_string(size_t width) const;

 private:
  size_t left_columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Characters of UTF-8 text.
size_t text_width(std::string_view text);
// `text` in at most `width` characters, the middle left out.
std::string shortened_to(std::string_view text, size_t width);

}  // namespace kcharter
