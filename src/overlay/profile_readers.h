// One reader for each kind of profile.
#pragma once

#include <nlohmann/json.hpp>

#include "overlay/profile.h"

namespace kcharter {

using Json = nlohmann::json;

Profile read_onnxruntime_profile(const Json& events);
Profile read_chrome_trace(const Json& events);

// A finite number that may be written as a text; `fallback` where it is neither.
double number_of(const Json& object, const char* key, double fallback);
int64_t integer_of(const Json& object, const char* key, int64_t fallback);
std::string text_of(const Json& object, const char* key);

}  // namespace kcharter
