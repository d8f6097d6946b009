#include "kcharter/import/import_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "import/huggingface/import_checkpoint.h"
#include "import/onnx/import_onnx.h"
#include "import/what_is.h"
#include "kcharter/base/error.h"

namespace kcharter {
namespace {

namespace fs = std::filesystem;

// What exporters call the graph of a decoder, in the order in which a folder is searched.
constexpr std::string_view kGraphNames[] = {"model.onnx", "decoder_model_merged.onnx",
                                            "decoder_with_past_model.onnx", "decoder_model.onnx",
                                            "decoder.onnx"};

std::vector<fs::path> onnx_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_checkpoint(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "config.json", error)) return true;
  const fs::directory_iterator entries(folder, error);
  return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
  });
}

// The graph in a folder; an empty path where there is none. Throws Error where there are several
// and no name tells which.
fs::path graph_of_folder(const fs::path& folder) {
  for (const fs::path& place : {folder, folder / "onnx"}) {
    std::error_code error;
    if (!fs::is_directory(place, error)) continue;
    for (const std::string_view name : kGraphNames) {
      if (fs::exists(place / name, error)) return place / name;
    }
    const std::vector<fs::path> files = onnx_files(place);
    if (files.size() == 1) return files.front();
    if (files.size() > 1 && !is_checkpoint(folder)) {
      throw Error(fmt::format("it holds {} ONNX files ({}, {} …); name one of them", files.size(),
                              files[0].filename().string(), files[1].filename().string()));
    }
  }
  return {};
}

Model import_folder(const fs::path& folder, const ImportOptions& options) {
  // Stored weights say more than a graph exported from them, so safetensors come first.
  std::error_code error;
  const fs::path graph = graph_of_folder(folder);
  const bool has_tensors = [&] {
    const fs::directory_iterator entries(folder, error);
    return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
      return entry.path().extension() == ".safetensors";
    });
  }();
  if (!graph.empty() && !has_tensors) {
    Model model = import_onnx(graph, OnnxEncoding::kBinary, options);
    const std::string stem = graph.stem().string();
    const bool generic = std::any_of(std::begin(kGraphNames), std::end(kGraphNames),
                                     [&](std::string_view name) { return name == stem + ".onnx"; });
    const fs::path named = fs::absolute(folder).lexically_normal();
    const std::string own =
        (named.has_filename() ? named : named.parent_path()).filename().string();
    if (generic && !own.empty()) model.name = own;
    return model;
  }
  if (is_checkpoint(folder)) return import_checkpoint(folder, options);
  throw Error("the folder holds no model: no .onnx, no .safetensors, no config.json");
}

Model import_file(const fs::path& path, const ImportOptions& options) {
  const std::string name = path.filename().string();
  const WhatIs what = what_is(path);
  switch (what.kind) {
    case FileKind::kOnnxText:
      return import_onnx(path, OnnxEncoding::kText, options);
    case FileKind::kProtoText:
      return import_onnx(path, OnnxEncoding::kProtoText, options);
    case FileKind::kSafetensors:
    case FileKind::kJson:
      return import_checkpoint(path, options);
    case FileKind::kOnnx:
      // A checkpoint that is broken says so itself.
      if (name.ends_with(".safetensors") || name.ends_with(".json"))
        return import_checkpoint(path, options);
      return import_onnx(path, OnnxEncoding::kBinary, options);
    case FileKind::kOther:
      break;
  }
  throw Error(fmt::format("this is {}", what.description));
}

}  // namespace

Model import_model(const fs::path& path, const ImportOptions& options) {
  try {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw Error("there is no such file or folder");
    if (fs::is_directory(status)) return import_folder(path, options);
    if (!fs::is_regular_file(status)) throw Error("not a regular file");
    return import_file(path, options);
  } catch (Error& error) {
    // Readers of a checkpoint name the file themselves.
    if (!std::string_view(error.what()).starts_with(path.string())) error.in(path.string());
    throw;
  }
}

}  // namespace kcharter
