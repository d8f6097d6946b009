// what_is: what a file really is, by its first bytes and not by its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kcharter {

enum class FileKind : uint8_t {
  kOnnx,       // begins like a serialized ModelProto
  kOnnxText,   // "<ir_version: …"
  kProtoText,  // "ir_version: 8"
  kSafetensors,
  kJson,
  kOther,  // something else: WhatIs::description says what
};

struct WhatIs {
  FileKind kind = FileKind::kOther;
  std::string
      description;  // of kOther: "a Git LFS pointer to a file of 1,234 bytes; run `git lfs pull`"
};

// Reads at most a few hundred bytes. Throws Error where the file cannot be read.
WhatIs what_is(const std::filesystem::path& path);

}  // namespace kcharter
