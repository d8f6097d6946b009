#include "structure/weight_module.h"

#include <algorithm>
#include <array>

#include "structure/path_table.h"

namespace kcharter {
namespace {

// Parts of a tensor's own name: what stands after these still names the tensor, not a module
// ("q_proj.weight.absmax", "q_proj.weight.quant_state.bitsandbytes__nf4").
constexpr std::array<std::string_view, 6> kTensorWords = {
    "weight", "bias", "weights", "qweight", "quant_state", "weight_packed"};

bool is_tensor_word(std::string_view piece) {
  return std::find(kTensorWords.begin(), kTensorWords.end(), piece) != kTensorWords.end();
}

std::string_view without_output_index(std::string_view name) {
  size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && is_index(name.substr(colon + 1))) {
    return name.substr(0, colon);
  }
  return name;
}

std::vector<std::string> split(std::string_view name, char separator) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find(separator, begin), name.size());
    if (end > begin) pieces.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

}  // namespace

std::vector<std::string> weight_module(std::string_view name, std::string_view reader_op) {
  name = without_output_index(name);
  if (name.find("::") != std::string_view::npos) return {};
  bool slashed = name.find('/') != std::string_view::npos;
  std::vector<std::string> pieces = split(name, slashed ? '/' : '.');
  if (pieces.empty()) return {};
  pieces.pop_back();
  if (slashed) return pieces;
  auto word = std::find_if(pieces.begin(), pieces.end(), is_tensor_word);
  pieces.erase(word, pieces.end());
  if (!pieces.empty() && !reader_op.empty() && pieces.back().starts_with(reader_op)) {
    pieces.pop_back();
  } else if (!pieces.empty() && pieces.back() == "MatMul") {
    pieces.pop_back();  // quantized since: the operator is MatMulNBits or DequantizeLinear now
  }
  return pieces;
}

ValueModule value_module(std::string_view name) {
  name = without_output_index(name);
  if (name.find("::") != std::string_view::npos) return {};
  ValueModule result;
  result.is_certain = name.starts_with('/');
  bool slashed = name.find('/') != std::string_view::npos;
  if (!slashed && name.starts_with("v_")) name.remove_prefix(2);
  result.segments = split(name, slashed ? '/' : '.');
  if (!result.segments.empty()) result.segments.pop_back();
  return result;
}

}  // namespace kcharter
