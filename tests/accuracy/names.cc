#include "accuracy/names.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "kcharter/base/error.h"

namespace kcharter::accuracy {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string letters_and_digits(std::string_view text) {
  std::string result;
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c))) result += c;
  }
  return result;
}

struct Alias {
  const char* label;
  const char* id;
  double part = 1;
};

constexpr Alias kDevices[] = {
    {"A100 SXM 80GB", "a100-sxm-80"},
    {"a100_sxm", "a100-sxm-80"},
    {"A100 PCIe 80GB", "a100-pcie-80"},
    {"H100 SXM", "h100-sxm"},
    {"h100_sxm", "h100-sxm"},
    {"H100 PCIe 80GB", "h100-pcie"},
    {"H200 SXM", "h200"},
    {"h200_sxm", "h200"},
    {"B200 SXM", "b200"},
    {"b200_sxm", "b200"},
    {"B300 SXM", "b300"},
    {"b300_sxm", "b300"},
    {"b60", "arc-pro-b60"},
    {"rtx_pro_6000_server", "rtx-pro-6000"},
    {"GB10 (DGX Spark)", "gb10"},
    {"Strix Halo (Ryzen AI Max+ 395)", "strix-halo"},
    {"Jetson Orin Nano 8GB", "orin-nano-8-15w"},
    {"Jetson Orin Nano 8GB Super", "orin-nano-8"},
    {"Jetson AGX Thor", "thor-t5000"},
    {"Raspberry Pi 5", "rpi5"},
    {"MI250X (1 GCD)", "mi250x", 0.5},
    {"Xeon 8592+ (1S, 8ch DDR5-5600)", "xeon-8592"},
};

// "M4 Max 40c" is the m4-max whose GPU has 40 cores.
std::string without_cores(std::string_view label) {
  const size_t space = label.rfind(' ');
  if (space == std::string_view::npos || !label.ends_with('c')) return std::string(label);
  const std::string_view cores = label.substr(space + 1, label.size() - space - 2);
  const bool digits =
      std::all_of(cores.begin(), cores.end(), [](unsigned char c) { return std::isdigit(c); });
  return std::string(digits ? label.substr(0, space) : label);
}

const Device* listed(std::string_view label) {
  const std::string wanted = letters_and_digits(without_cores(label));
  for (const Device& device : device_table()) {
    if (letters_and_digits(device.id) == wanted) return &device;
  }
  return nullptr;
}

// A format of `bits` for each element on the mean.
ElementFormat of_bits(double bits) { return {"", 256, static_cast<int64_t>(32 * bits + 0.5)}; }

// `bits` for each element, a scale and an offset of 16 bits for each group.
ElementFormat of_groups(int64_t bits, int64_t group) {
  return {"", group, (group * bits + 7) / 8 + 4};
}

// The number before `unit`.
std::optional<double> number_before(std::string_view text, std::string_view unit) {
  const size_t at = text.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  size_t begin = at;
  while (begin > 0 &&
         (std::isdigit(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '.'))
    --begin;
  double value = 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + at, value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::string first_word(std::string_view text) {
  return std::string(text.substr(0, text.find(' ')));
}

WeightFormats parsed(const std::string& text) {
  if (auto formats = parse_weight_formats(text)) return *formats;
  throw Error("no format '" + text + "'");
}

}  // namespace

std::optional<Device> device_called(std::string_view label) {
  for (const Alias& alias : kDevices) {
    if (label != alias.label) continue;
    const Device* found = find_device(alias.id);
    if (found == nullptr) return std::nullopt;
    Device device = *found;
    device.bandwidth_bytes_per_second *= alias.part;
    for (auto& [type, peak] : device.peaks) peak *= alias.part;
    return device;
  }
  const Device* found = listed(label);
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<std::filesystem::path> config_of(std::string_view model,
                                               const std::filesystem::path& configs,
                                               const std::filesystem::path& truth) {
  const std::string wanted = letters_and_digits(model);
  for (const auto& folder : std::filesystem::directory_iterator(configs)) {
    if (letters_and_digits(folder.path().filename().string()) == wanted) return folder.path();
  }
  std::vector<std::filesystem::path> found;
  if (!std::filesystem::is_directory(truth)) return std::nullopt;
  for (const auto& file : std::filesystem::directory_iterator(truth)) {
    const std::string name = file.path().stem().string();
    const size_t owner = name.find("--");
    if (owner == std::string::npos || name.starts_with("maxtext--")) continue;
    const std::string own = letters_and_digits(name.substr(owner + 2));
    for (const char* suffix : {"", "instruct", "hf", "it", "base", "chat", "chathf"}) {
      if (own == wanted + suffix || own == "meta" + wanted + suffix) found.push_back(file.path());
    }
  }
  if (found.empty()) return std::nullopt;
  return *std::min_element(found.begin(), found.end());
}

WeightFormats stored_as(std::string_view original) {
  const std::string words = lower(original);
  const std::string first = first_word(words);
  const auto says = [&](const char* text) { return words.find(text) != std::string::npos; };
  if (const auto bits = number_before(words, " bpw")) {
    WeightFormats formats{.all = of_bits(*bits), .parts = {}};
    // ExLlamaV2 keeps six bits for the head.
    if (says("exl2") && !says("gptq")) formats.parts.emplace_back("lm_head", of_bits(6));
    return formats;
  }
  if (const size_t group = words.find(" g");
      group != std::string::npos && std::isdigit(static_cast<unsigned char>(words[group + 2]))) {
    const size_t digits = first.find_first_of("0123456789");
    if (digits == std::string::npos) throw Error("no number of bits in '" + words + "'");
    return {.all = of_groups(std::stoll(first.substr(digits)), std::stoll(words.substr(group + 2))),
            .parts = {}};
  }
  if (says("mxfp4 experts")) {  // those are so in the configuration already
    if (says("q8_0 rest")) return parsed("q8_0");
    return {};
  }
  if (says("awq")) return {.all = of_bits(4.15625), .parts = {{"lm_head", of_bits(16)}}};
  const std::string head = says("bf16 head") || says("fp16 head") ? ",lm_head=bf16" : "";
  if (first == "fp8" || first == "int8") return parsed(first + head);
  if (first == "fp4" || first == "nvfp4") return parsed("nvfp4" + head);
  if (first == "fp16" || first == "f16" || first == "bf16") return {};
  const bool legacy = first == "q4_0" || first == "q4_1" || first == "q5_0" || first == "q5_1";
  return parsed(legacy ? first + ",lm_head=q6_k" : first);
}

}  // namespace kcharter::accuracy
