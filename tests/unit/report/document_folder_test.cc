#include "kcharter/report/document_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

constexpr char kSmall[] = R"({"model":{"name":"m","parameters":1}})";
constexpr char kLarge[] = R"({"model":{"name":"m","parameters":2}})";

class DocumentFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / "document_folder_test";
    fs::remove_all(root_);
    fs::create_directories(root_ / "cat/onnx");
    fs::create_directories(root_ / "dog");
  }
  fs::path root_;
};

TEST_F(DocumentFolderTest, KeepsModelsOfOneNameApart) {
  DocumentFolder folder(root_ / "out");
  EXPECT_EQ(folder.choose_name("model", root_ / "cat/onnx/model.onnx", kSmall), "model");
  folder.write("model", "decode", root_ / "cat/onnx/model.onnx", kSmall);

  DocumentFolder again(root_ / "out");
  EXPECT_EQ(again.choose_name("model", root_ / "cat/onnx/model.onnx", kLarge), "model");
  EXPECT_EQ(again.choose_name("model", root_ / "dog/model.onnx", kSmall), "dog");
  again.write("dog", "prefill", root_ / "dog/model.onnx", kSmall);
  EXPECT_EQ(again.choose_name("dog", root_ / "cat/onnx/dog.onnx", kSmall), "cat");
}

TEST_F(DocumentFolderTest, TellsDocumentsWithoutASourceByTheirFacts) {
  DocumentFolder folder(root_ / "out");
  folder.write("model", "decode", root_ / "cat/onnx/model.onnx", kSmall);
  EXPECT_EQ(folder.choose_name("model", {}, kSmall), "model");
  EXPECT_EQ(folder.choose_name("model", {}, kLarge), "model-2");
}

TEST_F(DocumentFolderTest, NamesAreSafeInFilesAndAddresses) {
  EXPECT_EQ(file_safe_name("Qwen3-30B_A3B.v2"), "Qwen3-30B_A3B.v2");
  EXPECT_EQ(file_safe_name("../../etc/passwd"), "model..-..-etc-passwd");
  EXPECT_EQ(file_safe_name("a b/c\n"), "a-b-c-");
  EXPECT_EQ(file_safe_name(""), "model");
  EXPECT_EQ(file_safe_name(".."), "model");
}

TEST_F(DocumentFolderTest, WritesWholeFilesOrNone) {
  write_whole(root_ / "x", "abc");
  write_whole(root_ / "x", "d");
  std::ifstream file(root_ / "x");
  std::string text;
  file >> text;
  EXPECT_EQ(text, "d");
  EXPECT_THROW(write_whole(root_ / "missing/x", "abc"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 3);
}

}  // namespace
}  // namespace kcharter
