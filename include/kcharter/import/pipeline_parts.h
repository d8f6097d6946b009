// pipeline_parts: the models inside a folder of diffusers. Its model_index.json names the parts of a
// pipeline: transformer or unet, text encoders, autoencoder; each is a folder with a model of its own.
#pragma once

#include <filesystem>
#include <vector>

namespace kcharter {

// The folders of the parts that are models, in the order of their names; `path` alone where it is no
// such folder. Throws Error: model_index.json cannot be read, or none of its parts is there.
std::vector<std::filesystem::path> pipeline_parts(const std::filesystem::path& path);

}  // namespace kcharter
