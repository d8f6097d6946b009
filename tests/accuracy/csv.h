// Tables of measurements: comma-separated, a head line, fields that may be quoted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kcharter::accuracy {

using Row = std::map<std::string, std::string, std::less<>>;

// Throws Error where the file cannot be read or a line has too few fields.
std::vector<Row> read_csv(const std::filesystem::path& file);

// Throws Error where the column is missing or is no number.
double number(const Row& row, std::string_view column);

}  // namespace kcharter::accuracy
