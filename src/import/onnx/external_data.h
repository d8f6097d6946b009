// Where the external data of a tensor lies. The files are looked at (stat), never opened.
//
// A model names the file by a path relative to its own folder. A path that leaves the folder, a
// device or pipe, a number that is none, a place behind the end of the file: each is a diagnostic,
// and the tensor's size comes from its dimensions alone (CVE-2022-25882, 2024-27318, 2025-51480).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/model_view.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/model/graph.h"

namespace kcharter {

class ExternalFiles {
 public:
  // `model_file` is the path as given: links are followed by the data's name, not the model's.
  // `files` is Model::files, to which data files are added when first met.
  ExternalFiles(std::filesystem::path model_file, std::vector<std::string>& files,
                Diagnostics& diagnostics);

  // `bytes` is what the tensor's type and dimensions call for.
  TensorLocation locate(const TensorView& tensor, uint64_t bytes);

 private:
  struct File {
    int32_t index = -1;
    uint64_t size = 0;
    std::string problem;  // empty: it is there
  };
  const File& look_at(const std::string& location);
  std::string problem_of(const std::string& location, uint64_t& size) const;

  std::filesystem::path model_file_;
  std::filesystem::path folder_;
  std::vector<std::string>& files_;
  Diagnostics& diagnostics_;
  std::map<std::string, File, std::less<>> seen_;
};

}  // namespace kcharter
