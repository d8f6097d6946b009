#include "report/markdown_cell.h"

#include "kcharter/base/utf8.h"

namespace kcharter {

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '`' || c == '<') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace kcharter
