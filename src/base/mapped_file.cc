#include "kcharter/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(path.string() + ": " + what);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Without O_NONBLOCK the open of a fifo waits for its writer.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status {};
  if (fstat(file.number, &status) != 0) {
    fail(path, std::string("cannot be examined: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    fail(path, S_ISDIR(status.st_mode) ? "is a folder, not a file" : "is not a regular file");
  }
  if (status.st_size == 0) return;  // an empty mapping is an error to mmap, an empty file is not
  size_ = static_cast<size_t>(status.st_size);
  void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED) fail(path, std::string("cannot be mapped: ") + std::strerror(errno));
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace kcharter
