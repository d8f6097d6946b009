#include "overlay/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "kcharter/base/error.h"
#include "kcharter/base/nesting.h"
#include "overlay/profile_readers.h"

namespace kcharter {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

// ONNX Runtime writes no bracket at the end where it was stopped.
Json parse(std::string_view text) {
  if (text.size() > kMostBytes || nests_too_deep(text)) return Json(Json::value_t::discarded);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  const size_t end = text.find_last_of('}');
  if (text.empty() || text.front() != '[' || end == std::string_view::npos) return json;
  return Json::parse(std::string(text.substr(0, end + 1)) + "]", nullptr, false);
}

bool is_onnxruntime(const Json& events) {
  return std::ranges::any_of(events, [](const Json& event) {
    const std::string category = text_of(event, "cat");
    return category == "Node" || category == "Session";
  });
}

}  // namespace

double number_of(const Json& object, const char* key, double fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  double value = fallback;
  if (found->is_number()) {
    value = found->get<double>();
  } else if (found->is_string()) {
    const std::string& text = found->get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return std::isfinite(value) ? value : fallback;
}

int64_t integer_of(const Json& object, const char* key, int64_t fallback) {
  constexpr double kMost = 1e15;
  const double value = number_of(object, key, static_cast<double>(fallback));
  return std::abs(value) <= kMost ? static_cast<int64_t>(value) : fallback;
}

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<int64_t> enclosing_spans(const std::vector<Span>& spans) {
  std::vector<size_t> order(spans.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const Span &x = spans[a], &y = spans[b];
    return std::tuple(x.thread, x.start, -x.duration) < std::tuple(y.thread, y.start, -y.duration);
  });
  std::vector<int64_t> inside(spans.size(), -1);
  std::vector<size_t> open;
  for (const size_t at : order) {
    const auto is_over = [&](const Span& span) {
      return span.thread != spans[at].thread || span.start + span.duration <= spans[at].start;
    };
    while (!open.empty() && is_over(spans[open.back()])) open.pop_back();
    // Clocks round: one that ends a little later than what it began in is still in it.
    if (!open.empty()) inside[at] = static_cast<int64_t>(open.back());
    open.push_back(at);
  }
  return inside;
}

Profile read_profile(std::string_view text) {
  Json json = parse(text);
  if (json.is_object() && json.contains("traceEvents")) json = Json(std::move(json["traceEvents"]));
  if (!json.is_array()) {
    throw Error("is no profile: neither a list of events, as ONNX Runtime writes, nor an "
                "object with 'traceEvents', as PyTorch's profiler does");
  }
  std::erase_if(json.get_ref<Json::array_t&>(), [](const Json& event) {
    return !event.is_object() || text_of(event, "ph") != "X";
  });
  Profile profile = is_onnxruntime(json) ? read_onnxruntime_profile(json) : read_chrome_trace(json);
  const auto is_empty = [](const std::vector<ProfileEvent>& step) { return step.empty(); };
  std::erase_if(profile.steps, is_empty);
  if (profile.steps.empty()) throw Error("no operator was measured in it");
  if (profile.steps.size() > 1) profile.steps.erase(profile.steps.begin());
  return profile;
}

}  // namespace kcharter
