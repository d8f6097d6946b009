#include "kcharter/import/pipeline_parts.h"

#include <string>

#include "import/architecture/model_config.h"
#include "import/huggingface/checkpoint_files.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

// A name of a folder, not a way out of this one.
bool is_plain(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find_first_of("/\\") == std::string::npos;
}

std::vector<fs::path> parts_of(const fs::path& folder, const fs::path& index) {
  std::vector<fs::path> parts;
  std::error_code error;
  for (const std::string& name : ModelConfig::parse(read_text_file(index)).keys()) {
    // Schedulers and tokenizers have other files; a part that is null is not there.
    if (is_plain(name) && fs::is_regular_file(folder / name / "config.json", error)) parts.push_back(folder / name);
  }
  if (parts.empty()) throw Error("none of its parts is there: a folder with a config.json for each model is expected");
  return parts;
}

}  // namespace

std::vector<fs::path> pipeline_parts(const fs::path& path) {
  std::error_code error;
  fs::path index = path.filename() == "model_index.json" ? path : path / "model_index.json";
  if (!fs::is_regular_file(index, error)) return {path};
  try {
    return parts_of(index.parent_path(), index);
  } catch (Error& failure) {
    throw failure.in(index.string());
  }
}

}  // namespace kcharter
