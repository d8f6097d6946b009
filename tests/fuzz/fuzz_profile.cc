// A document, a line of nothing but "=", and a profile to be joined to it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kcharter/base/error.h"
#include "kcharter/overlay/overlay.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kBetween = "\n=\n";
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t between = input.find(kBetween);
  if (between == std::string_view::npos) return 0;
  try {
    kcharter::overlay(input.substr(0, between), input.substr(between + kBetween.size()), "profile");
  } catch (const kcharter::Error&) {
  }
  return 0;
}
