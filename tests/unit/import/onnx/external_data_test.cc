#include "import/onnx/external_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace kcharter {
namespace {

namespace fs = std::filesystem;

class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "kcharter_external_data";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "sub");
    std::ofstream(folder_ / "model.onnx") << "x";
    std::ofstream(folder_ / "data.bin") << std::string(64, 'x');
    fs::create_symlink("/etc/hostname", folder_ / "leads_out");
    mkfifo((folder_ / "pipe").c_str(), 0600);
  }

  TensorLocation locate(std::vector<KeyValue> entries) {
    std::vector<std::string> files = {"model.onnx"};
    diagnostics_ = {};
    TensorView tensor;
    tensor.name = "w";
    tensor.external_data = std::move(entries);
    ExternalFiles external(folder_ / "model.onnx", files, diagnostics_);
    return external.locate(tensor, 32);
  }

  fs::path folder_;
  Diagnostics diagnostics_;
};

TEST_F(ExternalDataTest, IsLocated) {
  const TensorLocation place =
      locate({{"location", "data.bin"}, {"offset", "16"}, {"length", "32"}});
  EXPECT_EQ(place.file, 1);
  EXPECT_EQ(place.offset, 16u);
  EXPECT_EQ(place.length, 32u);
  EXPECT_TRUE(diagnostics_.all().empty());
  EXPECT_EQ(locate({{"location", "data.bin"}}).file, 1);
}

TEST_F(ExternalDataTest, TrapsAreRefusedAndSaid) {
  const std::vector<std::vector<KeyValue>> traps = {
      {{"location", "../data.bin"}},
      {{"location", "sub/../../data.bin"}},
      {{"location", "/etc/hostname"}},
      {{"location", "leads_out"}},
      {{"location", "pipe"}},
      {{"location", "sub"}},
      {{"location", "gone.bin"}},
      {{"location", std::string_view("data.bin\0x", 10)}},
      {},
      {{"location", "data.bin"}, {"location", "data.bin"}},
      {{"location", "data.bin"}, {"offset", "-1"}},
      {{"location", "data.bin"}, {"offset", "0x10"}},
      {{"location", "data.bin"}, {"offset", "40"}},
      {{"location", "data.bin"}, {"offset", "9223372036854775808"}},
      {{"location", "data.bin"}, {"length", "18446744073709551616"}},
  };
  for (const std::vector<KeyValue>& trap : traps) {
    EXPECT_EQ(locate(trap).file, -1);
    EXPECT_TRUE(diagnostics_.has("external-data-not-found"));
  }
}

TEST_F(ExternalDataTest, ADownloadCacheOfLinksIsFollowed) {
  fs::create_directories(folder_ / "snapshots");
  fs::create_symlink("../model.onnx", folder_ / "snapshots" / "model.onnx");
  fs::create_symlink("../data.bin", folder_ / "snapshots" / "data.bin");
  folder_ /= "snapshots";
  EXPECT_EQ(locate({{"location", "data.bin"}}).file, 1);
}

}  // namespace
}  // namespace kcharter
