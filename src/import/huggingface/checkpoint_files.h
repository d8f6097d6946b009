// find_checkpoint_files: what a path to a checkpoint stands for: which configuration, which shards,
// which of them are really there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/base/diagnostic.h"

namespace kcharter {

struct Shard {
  std::string name;               // as the index or the folder says it
  std::filesystem::path path;
  bool present = false;           // there, and not a pointer to itself
  std::optional<uint64_t> pointer_size;  // a Git LFS pointer: the bytes the file would have
};

struct CheckpointFiles {
  std::string name;                                // of the folder or file
  std::optional<std::filesystem::path> config;     // config.json
  std::optional<std::filesystem::path> quantization;  // hf_quant_config.json
  std::optional<std::filesystem::path> index;
  std::vector<Shard> shards;
  Diagnostics diagnostics;
};

// Throws Error where `path` is no checkpoint.
CheckpointFiles find_checkpoint_files(const std::filesystem::path& path);

// The text of a configuration or index; throws Error naming the file where it is too long.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace kcharter
