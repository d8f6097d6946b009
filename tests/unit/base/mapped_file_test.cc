#include "kcharter/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

const std::filesystem::path kFolder = ::testing::TempDir();

TEST(MappedFile, GivesTheBytes) {
  const std::filesystem::path path = kFolder / "mapped_file_test";
  std::ofstream(path) << "abc";
  MappedFile file(path);
  ASSERT_EQ(file.bytes().size(), 3u);
  EXPECT_EQ(file.bytes()[2], std::byte{'c'});
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().size(), 3u);
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(MappedFile(path).bytes().size(), 0u);
}

TEST(MappedFile, RefusesWhatWouldBlock) {
  const std::filesystem::path fifo = kFolder / "mapped_file_test_fifo";
  std::filesystem::remove(fifo);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THROW(MappedFile{fifo}, Error);
  EXPECT_THROW(MappedFile{kFolder}, Error);
  EXPECT_THROW(MappedFile{"/dev/zero"}, Error);
  EXPECT_THROW(MappedFile{kFolder / "mapped_file_test_missing"}, Error);
}

}  // namespace
}  // namespace kcharter
