#include "kcharter/report/document_folder.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/base/nesting.h"

namespace kcharter {
namespace {

constexpr std::string_view kModes[] = {"prefill", "decode"};

std::filesystem::path sources_file(const std::filesystem::path& folder) {
  return folder / ".kcharter-sources";
}

// FNV-1a: the same in every build, unlike std::hash.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

std::filesystem::path resolved(const std::filesystem::path& source) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::weakly_canonical(source, error);
  return error ? source.lexically_normal() : path;
}

uint64_t source_hash(const std::filesystem::path& source) {
  return hash_of(resolved(source).string());
}

// What tells one model from another, whatever its settings; none: not a document.
std::optional<nlohmann::json> facts_of(std::string_view document) {
  if (nests_too_deep(document)) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(document, nullptr, false);
  if (!json.is_object() || !json.contains("model") || !json["model"].is_object()) {
    return std::nullopt;
  }
  nlohmann::json facts = json["model"];
  facts.erase("name");
  return facts;
}

// The name of the folder that `source` is or lies in; folders that exporters always name alike say
// nothing.
std::string folder_name(const std::filesystem::path& source) {
  std::filesystem::path folder = resolved(source);
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) folder = folder.parent_path();
  while (folder.filename() == "onnx" || folder.filename() == "model") folder = folder.parent_path();
  return folder.filename().string();
}

}  // namespace

std::string file_safe_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 160)) {
    const bool is_kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '+';
    name += is_kept ? c : '-';
  }
  if (name.find_first_not_of(".-") == std::string::npos) return "model";
  return name.front() == '.' ? "model" + name : name;
}

DocumentFolder::DocumentFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!std::filesystem::is_directory(folder_)) {
    throw Error(folder_.string() + ": is not a folder that documents could be written to");
  }
  std::ifstream file(sources_file(folder_));
  std::string name;
  for (uint64_t hash = 0; file >> name >> hash;) sources_[name] = hash;
}

std::filesystem::path DocumentFolder::path_of(const std::string& name,
                                              std::string_view mode) const {
  return folder_ / (name + "." + std::string(mode) + ".json");
}

bool DocumentFolder::may_hold(const std::string& name, const std::filesystem::path& source,
                              std::string_view document) const {
  bool exists = false;
  for (const std::string_view mode : kModes) exists |= std::filesystem::exists(path_of(name, mode));
  if (!exists) return true;
  const auto known = sources_.find(name);
  if (!source.empty() && known != sources_.end()) return known->second == source_hash(source);
  const std::optional<nlohmann::json> facts = facts_of(document);
  for (const std::string_view mode : kModes) {
    const std::filesystem::path path = path_of(name, mode);
    if (!std::filesystem::exists(path)) continue;
    const MappedFile file(path);
    const auto bytes = file.bytes();
    if (facts_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) != facts) {
      return false;
    }
  }
  return true;
}

std::string DocumentFolder::choose_name(const std::string& wanted,
                                        const std::filesystem::path& source,
                                        std::string_view document) const {
  std::vector<std::string> candidates = {file_safe_name(wanted)};
  const std::string folder = source.empty() ? "" : folder_name(source);
  if (!folder.empty() && folder != wanted) {
    candidates.push_back(file_safe_name(folder));
    candidates.push_back(file_safe_name(folder + "-" + wanted));
  }
  for (const std::string& candidate : candidates) {
    if (may_hold(candidate, source, document)) return candidate;
  }
  for (int number = 2;; ++number) {
    std::string candidate = candidates.back() + "-" + std::to_string(number);
    if (may_hold(candidate, source, document)) return candidate;
  }
}

void DocumentFolder::write(const std::string& name, std::string_view mode,
                           const std::filesystem::path& source, std::string_view document) {
  write_whole(path_of(name, mode), document);
  if (source.empty()) return;
  sources_[name] = source_hash(source);
  std::ostringstream lines;
  for (const auto& [listed, hash] : sources_) lines << listed << ' ' << hash << '\n';
  write_whole(sources_file(folder_), lines.str());
}

}  // namespace kcharter
