#include "kcharter/model/model.h"

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

}  // namespace kcharter
