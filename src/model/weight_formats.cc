#include "kcharter/model/weight_formats.h"

#include <algorithm>

namespace kcharter {
namespace {

// Formats of a mixture's parts. The head, and so a table tied to it, is q6_k in all of them.
struct Mixture {
  std::string_view name;
  std::string_view all;
  std::string_view value_and_down;
  std::string_view attention_output;
};

constexpr Mixture kMixtures[] = {
    {"q2_k_m", "q2_k", "q3_k", "q3_k"}, {"q3_k_s", "q3_k", "q3_k", "q3_k"},
    {"q3_k_m", "q3_k", "q4_k", "q4_k"}, {"q3_k_l", "q3_k", "q5_k", "q5_k"},
    {"q4_k_s", "q4_k", "q4_k", "q4_k"}, {"q4_k_m", "q4_k", "q4_k+q6_k", "q4_k"},
    {"q5_k_s", "q5_k", "q5_k", "q5_k"}, {"q5_k_m", "q5_k", "q5_k+q6_k", "q5_k"},
};

// "a+b": half of the layers each.
ElementFormat mean_format(std::string_view text) {
  const size_t plus = text.find('+');
  ElementFormat first = *parse_element_format(text.substr(0, plus));
  if (plus == std::string_view::npos) return first;
  const ElementFormat second = *parse_element_format(text.substr(plus + 1));
  first.name = text;
  first.block_bytes = (first.block_bytes + second.block_bytes) / 2;
  return first;
}

WeightFormats formats_of(const Mixture& mixture) {
  WeightFormats formats;
  formats.all = mean_format(mixture.all);
  formats.parts.emplace_back("lm_head", *parse_element_format("q6_k"));
  for (const char* part : {"v_proj", "down_proj", "w2"}) {
    formats.parts.emplace_back(part, mean_format(mixture.value_and_down));
  }
  formats.parts.emplace_back("o_proj", mean_format(mixture.attention_output));
  return formats;
}

std::optional<WeightFormats> parse_one(std::string_view text) {
  for (const Mixture& mixture : kMixtures) {
    if (text == mixture.name) return formats_of(mixture);
  }
  const std::optional<ElementFormat> format = parse_element_format(text);
  if (!format) return std::nullopt;
  return WeightFormats{.all = format, .parts = {}};
}

bool has_segment(std::string_view path, std::string_view name) {
  for (size_t at = path.find(name); at != std::string_view::npos; at = path.find(name, at + 1)) {
    const auto is_border = [&](size_t i) {
      return i >= path.size() || path[i] == '.' || path[i] == '/';
    };
    if ((at == 0 || is_border(at - 1)) && is_border(at + name.size())) return true;
  }
  return false;
}

}  // namespace

DType computed_in(const ElementFormat& format) {
  if (format.name == "fp8" || format.name == "mxfp8") return DType::kF8E4M3FN;
  if (format.name == "nvfp4") return DType::kF4E2M1;
  // ggml's products quantize activations to q8 and run in whole numbers.
  const bool of_ggml = format.name.starts_with("q") || format.name.starts_with("iq");
  return of_ggml || format.name == "int8" ? DType::kInt8 : DType::kUnknown;
}

const ElementFormat* WeightFormats::of(std::string_view path) const {
  for (const auto& [name, format] : parts) {
    if (has_segment(path, name)) return &format;
  }
  return all ? &*all : nullptr;
}

std::optional<WeightFormats> parse_weight_formats(std::string_view text) {
  WeightFormats formats;
  std::vector<std::pair<std::string, ElementFormat>> own;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      const auto parsed = parse_one(item);
      if (!parsed || !formats.empty()) return std::nullopt;
      formats = *parsed;
      continue;
    }
    const auto format = parse_element_format(item.substr(equals + 1));
    if (!format || equals == 0) return std::nullopt;
    own.emplace_back(item.substr(0, equals), *format);
  }
  formats.parts.insert(formats.parts.begin(), own.begin(), own.end());
  if (formats.empty()) return std::nullopt;
  return formats;
}

}  // namespace kcharter
