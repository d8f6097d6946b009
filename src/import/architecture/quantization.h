// Quantization: how a checkpoint stores the matrices of linear layers, from its quantization_config.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

struct Quantization {
  std::string method;  // as the configuration says; empty: not quantized
};

}  // namespace kcharter
