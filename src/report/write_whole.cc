#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "kcharter/base/error.h"
#include "kcharter/report/document_folder.h"

namespace kcharter {

void write_whole(const std::filesystem::path& path, std::string_view bytes) {
  // Of this process alone, so that two calls at once do not write into each other's file.
  std::filesystem::path temporary = path;
  temporary += "." + std::to_string(getpid()) + ".tmp";
  const auto fail = [&](const std::string& reason) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(path.string() + ": cannot be written: " + reason);
  };
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  if (!file) fail(std::strerror(errno));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) fail(error.message());
}

}  // namespace kcharter
