#include "truth/shared_files.h"

#include <cstdlib>

namespace kcharter::truth {
namespace {

std::optional<std::filesystem::path> folder_named_by(const char* variable, const char* witness) {
  const char* value = std::getenv(variable);
  if (value == nullptr || !std::filesystem::exists(std::filesystem::path(value) / witness)) {
    return std::nullopt;
  }
  return value;
}

std::map<std::string, int>& counts() {
  static std::map<std::string, int> counts;
  return counts;
}

}  // namespace

// CMake sets both variables for ctest; by hand they are set on the command line.
std::optional<std::filesystem::path> shared_dir() {
  return folder_named_by("KCHARTER_SHARED_DIR", "truth");
}

std::optional<std::filesystem::path> corpus_dir() {
  return folder_named_by("KCHARTER_CORPUS_DIR", ".unpacked");
}

void count_case(const std::string& origin) { ++counts()[origin]; }
const std::map<std::string, int>& cases() { return counts(); }

}  // namespace kcharter::truth
