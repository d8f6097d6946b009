#include "accuracy/csv.h"

#include <charconv>
#include <fstream>

#include "kcharter/base/error.h"

namespace kcharter::accuracy {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

std::vector<Row> read_csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) throw Error(file.string() + ": not to be read");
  const std::vector<std::string> head = split(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = split(line);
    if (fields.size() < head.size()) {
      throw Error(file.string() + ": line " + std::to_string(rows.size() + 2) + " has " +
                  std::to_string(fields.size()) + " fields, not " + std::to_string(head.size()));
    }
    Row& row = rows.emplace_back();
    for (size_t i = 0; i < head.size(); ++i) row[head[i]] = fields[i];
  }
  return rows;
}

double number(const Row& row, std::string_view column) {
  const auto found = row.find(column);
  double value = 0;
  if (found != row.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  throw Error("'" + std::string(column) + "' is no number");
}

}  // namespace kcharter::accuracy
