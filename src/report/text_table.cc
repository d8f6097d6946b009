#include "kcharter/report/text_table.h"

#include <algorithm>

namespace kcharter {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kNarrowest = 16;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The first `count` characters.
std::string_view head(std::string_view text, size_t count) {
  size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
    --count;
  }
  return text.substr(0, at);
}

}  // namespace

size_t text_width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string shortened_to(std::string_view text, size_t width) {
  const size_t length = text_width(text);
  if (length <= width) return std::string(text);
  if (width < 3) return std::string(head(text, width));
  const size_t front = width / 2;
  const std::string_view before_tail = head(text, length - (width - 1 - front));
  return std::string(head(text, front)) + "…" + std::string(text.substr(before_tail.size()));
}

std::string TextTable::to_string(size_t width) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  size_t total = 0;
  for (const size_t column : widths) total += column + kGap;
  if (total > width && !widths.empty()) {
    const size_t excess = total - width;
    widths[0] =
        widths[0] > excess + kNarrowest ? widths[0] - excess : std::min(widths[0], kNarrowest);
    total = 0;
    for (const size_t column : widths) total += column + kGap;
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    if (row.empty()) {
      line = std::string(kGap, ' ');
      for (size_t i = kGap; i < total; ++i) line += "─";
    }
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = i == 0 ? shortened_to(row[i], widths[i]) : row[i];
      const std::string padding(widths[i] - text_width(cell), ' ');
      line += std::string(kGap, ' ') + (i < left_columns_ ? cell + padding : padding + cell);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + '\n';
  }
  return text;
}

}  // namespace kcharter
