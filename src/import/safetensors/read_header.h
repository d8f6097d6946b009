// read_safetensors_header: the names, types, shapes and places of the tensors of one *.safetensors
// file, from its header alone: 8 bytes of length, then JSON, then the data.
//
//   SafetensorsHeader header = read_safetensors_header(MappedFile(path).bytes());
//
// Format: https://github.com/huggingface/safetensors (README, "Format"). The header is streamed, so
// that 300,000 tensors cost their own size and nothing is built twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kcharter/base/diagnostic.h"
#include "kcharter/model/dtype.h"

namespace kcharter {

struct SafetensorsTensor {
  std::string name;
  DType dtype = DType::kUnknown;  // kUnknown: a type we have no name for; the bytes are still exact
  std::vector<int64_t> dims;
  uint64_t offset = 0;  // bytes from the file's start
  uint64_t length = 0;
};

struct SafetensorsHeader {
  static constexpr uint64_t kLongest = 100'000'000;  // the format's own limit
  static constexpr size_t kMostTensors = 4'000'000;
  static constexpr size_t kMostDims = 32;

  std::vector<SafetensorsTensor> tensors;  // in the order of the header
  Diagnostics diagnostics;  // truncated-file, gap-in-file, unknown-dtype, padded-header
};

// Throws Error where the header is not one or contradicts itself: not JSON, invalid UTF-8, a name
// twice, shape and length that disagree, offsets reversed or overlapping.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> file);

}  // namespace kcharter
