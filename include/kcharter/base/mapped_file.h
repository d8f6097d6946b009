// MappedFile: a file's bytes without reading them. Pages are loaded on access, so a header at the
// front of a 100 GB file costs one page.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace kcharter {

class MappedFile {
 public:
  // Regular files only (a fifo or device would block); throws Error naming the path.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace kcharter
