// The names follow ONNX Runtime: core/graph/function_utils.cc (inlined functions: "_inlfunc_"),
// core/optimizer/constant_folding.cc (inlined branches: "__Inline_0__"), the fusions of
// core/optimizer ("<node>/LayerNormFusion/"), nchwc_transformer.cc ("<value>_nchwc"), and
// python/tools/quantization ("<node>_quant", "<value>_QuantizeLinear").
#include "overlay/runtime_names.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kcharter {
namespace {

using View = std::string_view;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<View> without_suffix(View name, View suffix) {
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

// "<rest><mark>12" → "<rest>".
std::optional<View> without_number(View name, View mark) {
  size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  if (end == name.size()) return std::nullopt;
  return without_suffix(name.substr(0, end), mark);
}

// "<rest>/MatmulTransposeFusion/" → "<rest>".
std::optional<View> without_fusion(View name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  if (!name.ends_with("Fusion") && !name.ends_with("_fusion")) return std::nullopt;
  size_t begin = name.size();
  while (begin > 0 && (is_letter(name[begin - 1]) || is_digit(name[begin - 1]) || name[begin - 1] == '_')) --begin;
  while (begin > 0 && name[begin - 1] == '/') --begin;
  return begin == 0 ? std::nullopt : std::optional(name.substr(0, begin));
}

std::optional<View> without_inlining(View name) {
  constexpr View kMark = "__Inline_";
  const size_t mark = name.rfind(kMark);
  if (mark == View::npos) return std::nullopt;
  size_t at = mark + kMark.size();
  while (at < name.size() && is_digit(name[at])) ++at;
  if (!name.substr(at).starts_with("__") || at + 2 >= name.size()) return std::nullopt;
  return name.substr(at + 2);
}

constexpr std::array kSuffixes = {
    View("_nchwc"),  View("_nhwc"),           View("_bn"),
    View("_matmul"), View("_quant"),          View("_QuantizeLinear"),
    View("_gemm"),   View("_DequantizeLinear"), View("/duplicated"),
    View("_Cast"),   View("/"),
};

std::vector<View> one_step_back(View name) {
  std::vector<View> names;
  const auto add = [&](std::optional<View> before) {
    if (before && !before->empty()) names.push_back(*before);
  };
  add(without_number(name, "_token_"));
  add(without_fusion(name));
  for (const View suffix : kSuffixes) add(without_suffix(name, suffix));
  add(without_number(name, "_output_"));
  add(without_number(name, ":"));
  add(without_inlining(name));
  if (name.starts_with("fused ")) add(name.substr(6));
  return names;
}

// "_inlfunc_<function>_<node>", where both may hold "_".
void add_inlined(View name, std::vector<std::string>* names) {
  constexpr View kInlined = "_inlfunc_";
  if (!name.starts_with(kInlined)) return;
  name.remove_prefix(kInlined.size());
  for (size_t at = name.find('_'); at != View::npos; at = name.find('_', at + 1)) {
    if (at + 1 < name.size()) names->emplace_back(name.substr(at + 1));
  }
}

}  // namespace

std::vector<std::string> names_before(std::string_view name) {
  constexpr size_t kMost = 64, kLongest = 4096;
  std::vector<std::string> names;
  if (name.size() > kLongest) return names;
  const auto add = [&](std::string_view before) {
    if (names.size() < kMost && before != name && std::ranges::find(names, before) == names.end()) {
      names.emplace_back(before);
    }
  };
  for (const View before : one_step_back(name)) add(before);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string current = names[i];  // `names` grows
    for (const View before : one_step_back(current)) add(before);
  }
  std::vector<std::string> inlined;
  add_inlined(name, &inlined);
  for (size_t i = 0, count = names.size(); i < count; ++i) add_inlined(names[i], &inlined);
  for (const std::string& before : inlined) add(before);
  return names;
}

bool is_made_up(std::string_view name) {
  if (const auto token = without_number(name, "_token_")) name = *token;
  if (const auto number = without_number(name, "_")) name = *number;
  return !name.empty() && std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace kcharter
