#include "import/huggingface/checkpoint_files.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "import/safetensors/read_index.h"
#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kLongestText = uintmax_t{512} << 20;
constexpr size_t kMostFiles = 100'000;
constexpr std::string_view kIndexEnding = ".safetensors.index.json";
constexpr std::string_view kTensorEnding = ".safetensors";
constexpr std::string_view kPointerStart = "version https://git-lfs.github.com/spec/v1";

// "size 4976698672" in the pointer that Git leaves in place of a large file.
std::optional<uint64_t> pointer_size(const fs::path& path) {
  std::error_code error;
  if (fs::file_size(path, error) > 1024 || error) return std::nullopt;
  std::string text = read_text_file(path);
  if (!text.starts_with(kPointerStart)) return std::nullopt;
  size_t at = text.find("\nsize ");
  if (at == std::string::npos) return 0;
  uint64_t size = 0;
  for (size_t i = at + 6; i < text.size() && text[i] >= '0' && text[i] <= '9' && size < UINT64_MAX / 16; ++i) {
    size = size * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  return size;
}

Shard shard_at(const fs::path& folder, const std::string& name) {
  Shard shard;
  shard.name = name;
  shard.path = folder / name;
  std::error_code error;
  shard.present = fs::is_regular_file(shard.path, error);
  if (!shard.present) return shard;
  shard.pointer_size = pointer_size(shard.path);
  if (shard.pointer_size) shard.present = false;
  return shard;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code error;
    if (!entry.is_regular_file(error)) continue;
    names.push_back(entry.path().filename().string());
    if (names.size() > kMostFiles) throw Error(folder.string() + ": more than 100,000 files");
  }
  std::sort(names.begin(), names.end());
  return names;
}

void use_index(CheckpointFiles& files, const fs::path& index) {
  files.index = index;
  SafetensorsIndex read;
  try {
    read = read_safetensors_index(read_text_file(index));
  } catch (Error& error) {
    throw error.in(index.string());
  }
  std::set<std::string> names;
  for (const auto& [tensor, shard] : read.weight_map) names.insert(shard);
  for (const std::string& name : names) files.shards.push_back(shard_at(index.parent_path(), name));
}

// Folders hold the same weights in several forms; the preferred one is the one libraries load.
void use_folder(CheckpointFiles& files, const fs::path& folder) {
  std::vector<std::string> names = files_in(folder);
  auto has = [&](std::string_view name) { return std::binary_search(names.begin(), names.end(), name); };
  for (std::string_view preferred : {"model.safetensors.index.json", "diffusion_pytorch_model.safetensors.index.json"}) {
    if (has(preferred)) return use_index(files, folder / preferred);
  }
  for (std::string_view preferred : {"model.safetensors", "diffusion_pytorch_model.safetensors"}) {
    if (has(preferred)) return files.shards.push_back(shard_at(folder, std::string(preferred)));
  }
  for (const std::string& name : names) {
    if (name.ends_with(kIndexEnding)) return use_index(files, folder / name);
  }
  bool numbered = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("model-") && name.ends_with(kTensorEnding);
  });
  for (const std::string& name : names) {
    bool copy = name.find("fp16") != std::string::npos || name.starts_with("consolidated");
    bool wanted = numbered ? name.starts_with("model-") : !copy;
    if (wanted && name.ends_with(kTensorEnding)) files.shards.push_back(shard_at(folder, name));
  }
}

void use_config_beside(CheckpointFiles& files, const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"config.json", "adapter_config.json"}) {
    if (!files.config && fs::is_regular_file(folder / name, error)) files.config = folder / name;
  }
  if (fs::is_regular_file(folder / "hf_quant_config.json", error)) {
    files.quantization = folder / "hf_quant_config.json";
  }
}

std::string folder_name(const fs::path& folder) {
  fs::path own = fs::absolute(folder).lexically_normal();
  if (!own.has_filename()) own = own.parent_path();
  std::string name = own.filename().string();
  // Part of a pipeline: every pipeline calls its parts the same.
  std::error_code error;
  if (!fs::is_regular_file(own.parent_path() / "model_index.json", error)) return name;
  return own.parent_path().filename().string() + "-" + name;
}

}  // namespace

std::string read_text_file(const fs::path& path) {
  std::error_code error;
  uintmax_t size = fs::file_size(path, error);
  if (error) throw Error(path.string() + ": " + error.message());
  if (size > kLongestText) throw Error(path.string() + ": " + std::to_string(size) + " bytes are too long for a text");
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  if (!file) throw Error(path.string() + ": cannot be read");
  return text;
}

CheckpointFiles find_checkpoint_files(const fs::path& path) {
  CheckpointFiles files;
  std::string file_name = path.filename().string();
  std::error_code error;
  if (fs::is_directory(path, error)) {
    files.name = folder_name(path);
    use_config_beside(files, path);
    use_folder(files, path);
    if (!files.config && files.shards.empty()) {
      throw Error(path.string() + ": holds neither config.json nor *.safetensors");
    }
    return files;
  }
  if (!fs::exists(path, error)) throw Error(path.string() + ": no such file or folder");
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (file_name.ends_with(kIndexEnding)) {
    use_index(files, path);
    use_config_beside(files, folder);
    files.name = file_name.substr(0, file_name.size() - kIndexEnding.size());
    if (files.name == "model") files.name = folder_name(folder);
  } else if (file_name.ends_with(kTensorEnding)) {
    files.shards.push_back(shard_at(folder, file_name));
    if (files.shards[0].pointer_size) {
      throw Error(path.string() + ": is a Git LFS pointer to a file of " +
                  std::to_string(*files.shards[0].pointer_size) + " bytes, not the file: run 'git lfs pull'");
    }
    use_config_beside(files, folder);
    files.name = file_name.substr(0, file_name.size() - kTensorEnding.size());
    if (files.name == "model") files.name = folder_name(folder);
  } else {
    files.config = path;
    std::string stem = path.stem().string();
    for (const fs::path& side : {folder / (stem + ".hf_quant_config.json"), folder / "hf_quant_config.json"}) {
      if (!files.quantization && fs::is_regular_file(side, error)) files.quantization = side;
    }
    files.name = stem == "config" ? folder_name(folder) : stem;
  }
  return files;
}

}  // namespace kcharter
