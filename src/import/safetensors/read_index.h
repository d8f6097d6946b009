// read_safetensors_index: a *.safetensors.index.json: which shard holds which tensor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kcharter {

struct SafetensorsIndex {
  static constexpr size_t kMostTensors = 4'000'000;
  std::vector<std::pair<std::string, std::string>> weight_map;  // tensor, shard's file name
  // metadata.total_size where it is a whole number above 0: some tools write 0 or a float.
  std::optional<uint64_t> total_size;
};

// What follows the JSON object is ignored: files with trailing bytes exist. Throws Error: not an
// index, a shard outside the index's own folder.
SafetensorsIndex read_safetensors_index(std::string_view text);

}  // namespace kcharter
