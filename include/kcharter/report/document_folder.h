// DocumentFolder: a folder of documents (`generated/`), and which source each name in it belongs
// to, so that a document of one model never overwrites another's.
//
// Documents hold no path. What was analysed here is remembered beside them in `.kcharter-sources`:
// a name and a hash of the source's path a line. A name that is not listed there belongs to the
// model whose facts its document holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

class DocumentFolder {
 public:
  // Makes the folder where it is missing; throws Error where that cannot be done.
  explicit DocumentFolder(std::filesystem::path folder);

  // The name under which documents of `source` (the path of a model) are kept: `wanted`, unless
  // that belongs to another model; then the name of the folder that `source` lies in, then wanted-2
  // …. `document` is one of the documents to be kept, as JSON.
  std::string choose_name(const std::string& wanted, const std::filesystem::path& source,
                          std::string_view document) const;
  // Whether `name` is free, or holds documents of `source`.
  bool may_hold(const std::string& name, const std::filesystem::path& source,
                std::string_view document) const;

  // Writes NAME.MODE.json whole or not at all, and remembers the source.
  void write(const std::string& name, std::string_view mode, const std::filesystem::path& source,
             std::string_view document);

  std::filesystem::path path_of(const std::string& name, std::string_view mode) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, uint64_t> sources_;
};

// `text` as part of a file name and an address: letters, digits, '.', '_', '-', '+'; others become
// '-'. Never empty, never hidden.
std::string file_safe_name(std::string_view text);

// Writes `bytes` to a temporary file beside `path` and renames it. Throws Error.
void write_whole(const std::filesystem::path& path, std::string_view bytes);

}  // namespace kcharter
