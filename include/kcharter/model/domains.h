// The domains whose operators are known, as Node::domain spells them.
#pragma once

#include <string_view>

// Comes first: its Format has a kOnnx of its own, which may not hide the one below.
#include "kcharter/model/model.h"

namespace kcharter {

inline constexpr std::string_view kOnnx = "";
inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kMicrosoftNchwc = "com.microsoft.nchwc";
inline constexpr std::string_view kOnnxMl = "ai.onnx.ml";
inline constexpr std::string_view kTraining = "ai.onnx.preview.training";
inline constexpr std::string_view kOurs = "kcharter";

}  // namespace kcharter
