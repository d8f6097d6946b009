#include "import/what_is.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"

namespace kcharter {
namespace {

constexpr size_t kHead = 512;

struct Magic {
  std::string_view bytes;
  std::string_view description;
};

constexpr Magic kMagics[] = {
    {"\x1f\x8b", "gzip data; unpack it first"},
    {"PK\x03\x04",
     "a zip archive (perhaps a PyTorch checkpoint); export the model to ONNX or safetensors"},
    {"\x80\x02", "a Python pickle (a PyTorch checkpoint); convert it to safetensors"},
    {"\x80\x03", "a Python pickle (a PyTorch checkpoint); convert it to safetensors"},
    {"\x80\x04", "a Python pickle (a PyTorch checkpoint); convert it to safetensors"},
    {"\x80\x05", "a Python pickle (a PyTorch checkpoint); convert it to safetensors"},
    {"GGUF", "a GGUF file, which is not read; give the checkpoint it was made from"},
    {"\x89HDF\r\n", "an HDF5 file (a Keras model); export it to ONNX"},
    {"\xfd"
     "7zXZ",
     "xz data; unpack it first"},
    {"BZh", "bzip2 data; unpack it first"},
    {"\x28\xb5\x2f\xfd", "zstd data; unpack it first"},
    {"7z\xbc\xaf", "a 7z archive; unpack it first"},
    {"\x7f"
     "ELF",
     "a program or library"},
    {"\x89PNG", "an image"},
    {"%PDF", "a PDF document"},
};

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return text;
}

std::string describe_pointer(std::string_view head) {
  std::string size = "unknown size";
  const size_t at = head.find("\nsize ");
  if (at != std::string_view::npos) {
    const std::string_view digits = head.substr(at + 6, head.find('\n', at + 6) - at - 6);
    size = fmt::format("{} bytes", digits);
  }
  return fmt::format("a Git LFS pointer to a file of {}; run `git lfs pull` to fetch it", size);
}

bool is_html(std::string_view text) {
  std::string begin(text.substr(0, 15));
  for (char& c : begin) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return begin.starts_with("<!doctype html") || begin.starts_with("<html") ||
         begin.starts_with("<head") || begin.starts_with("<?xml");
}

WhatIs of_text(std::string_view head, size_t size) {
  const std::string_view text = trim(head);
  if (text.starts_with("version https://git-lfs"))
    return {FileKind::kOther, describe_pointer(head)};
  if (is_html(text)) {
    return {FileKind::kOther,
            "an HTML or XML page, not a model: the download failed or wants a log-in"};
  }
  if (text.starts_with("{") || text.starts_with("[")) return {FileKind::kJson, ""};
  if (text.starts_with("<")) return {FileKind::kOnnxText, ""};
  if (text.find("ir_version") != std::string_view::npos || text.starts_with("graph {") ||
      text.starts_with("opset_import {")) {
    return {FileKind::kProtoText, ""};
  }
  const bool is_path = size < 300 && text.find('\n') == std::string_view::npos &&
                       (text.find('/') != std::string_view::npos || text.ends_with(".onnx"));
  if (is_path) {
    return {FileKind::kOther,
            fmt::format("a line of text that reads like a path ('{}'): a symbolic link "
                        "checked out as text; give the file it leads to",
                        text)};
  }
  return {FileKind::kOther, "a text file, not a model"};
}

// A header's length in 8 bytes, then JSON.
bool is_safetensors(std::string_view head, size_t size) {
  if (head.size() < 10 || head[8] != '{') return false;
  uint64_t length = 0;
  std::memcpy(&length, head.data(), 8);
  return length <= size;
}

}  // namespace

WhatIs what_is(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()),
                             file.bytes().size());
  if (all.empty()) return {FileKind::kOther, "an empty file; fetch it again"};
  const std::string_view head = all.substr(0, kHead);
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) return {FileKind::kOther, std::string(magic.description)};
  }
  if (head.size() > 8 && head.substr(4, 4) == "ORTM") {
    return {FileKind::kOther,
            "a model in ONNX Runtime's own format (.ort); give the .onnx it was made from"};
  }
  if (head.size() > 8 && head.substr(4, 4) == "TFL3") {
    return {FileKind::kOther, "a TensorFlow Lite model; convert it to ONNX"};
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return {FileKind::kOther, "nothing but zero bytes: the download was not finished"};
  }
  if (is_safetensors(head, all.size())) return {FileKind::kSafetensors, ""};
  if (is_text(head)) return of_text(head, all.size());
  return {FileKind::kOnnx, ""};
}

}  // namespace kcharter
