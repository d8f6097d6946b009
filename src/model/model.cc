#include "kcharter/model/model.h"

#include <algorithm>

namespace kcharter {

std::string_view name(Mode mode) { return mode == Mode::kDecode ? "decode" : "prefill"; }

std::string_view name(Format format) {
  switch (format) {
    case Format::kOnnx:
      return "onnx";
    case Format::kSafetensors:
      return "safetensors";
    case Format::kConfig:
      return "config";
  }
  return "onnx";
}

Variable* find_variable(std::vector<Variable>& variables, std::string_view name_or_label) {
  const auto found = std::ranges::find_if(variables, [&](const Variable& variable) {
    return variable.name == name_or_label || variable.label == name_or_label;
  });
  return found == variables.end() ? nullptr : &*found;
}

}  // namespace kcharter
