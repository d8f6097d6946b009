#include "import/what_is.h"

#include <gmock/gmock.h>

#include <fstream>

namespace kcharter {
namespace {

using ::testing::HasSubstr;

WhatIs look(const std::string& bytes) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "kcharter_what_is";
  std::ofstream(path, std::ios::binary) << bytes;
  return what_is(path);
}

TEST(WhatIs, KnowsWhatIsNoModel) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
  EXPECT_THAT(look(pointer).description, HasSubstr("Git LFS pointer to a file of 12345 bytes"));
  EXPECT_THAT(look("<!DOCTYPE html>\n<html>").description, HasSubstr("HTML"));
  EXPECT_THAT(look("\x1f\x8b\x08").description, HasSubstr("gzip"));
  EXPECT_THAT(look("PK\x03\x04zz").description, HasSubstr("zip archive"));
  EXPECT_THAT(look("\x80\x02}q").description, HasSubstr("pickle"));
  EXPECT_THAT(look("").description, HasSubstr("empty"));
  EXPECT_THAT(look("../models/model.onnx").description, HasSubstr("symbolic link"));
  EXPECT_THAT(look("hello").description, HasSubstr("text"));
  EXPECT_THAT(look(std::string(600, '\0')).description, HasSubstr("zero bytes"));
}

TEST(WhatIs, KnowsModels) {
  EXPECT_EQ(look("<ir_version: 8> g () => () {}").kind, FileKind::kOnnxText);
  EXPECT_EQ(look("ir_version: 8\n").kind, FileKind::kProtoText);
  EXPECT_EQ(look("{\"a\": 1}").kind, FileKind::kJson);
  EXPECT_EQ(look(std::string("\x08\x07\x12\x00", 4)).kind, FileKind::kOnnx);
  EXPECT_EQ(look(std::string("\x02\0\0\0\0\0\0\0{}", 10)).kind, FileKind::kSafetensors);
}

}  // namespace
}  // namespace kcharter
