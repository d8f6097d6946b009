// Profiles of ONNX Runtime: onnxruntime/core/framework/sequential_executor.cc, common/profiler.cc.
// An operator is an event of category "Node" whose name ends in "_kernel_time".
#include <algorithm>

#include "overlay/profile_readers.h"

namespace kcharter {
namespace {

constexpr std::string_view kKernel = "_kernel_time";

Span span_of(const Json& event) {
  return {number_of(event, "ts", 0), std::max(0.0, number_of(event, "dur", 0)),
          integer_of(event, "tid", 0)};
}

// [{"float": [2, 1, 64]}, …]
std::vector<std::vector<int64_t>> shapes_of(const Json& event, const char* key) {
  std::vector<std::vector<int64_t>> shapes;
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object()) return shapes;
  const auto types = args->find(key);
  if (types == args->end() || !types->is_array()) return shapes;
  for (const Json& type : *types) {
    if (!type.is_object() || type.size() != 1 || !type.begin()->is_array()) return {};
    std::vector<int64_t> shape;
    for (const Json& dim : *type.begin()) {
      if (!dim.is_number_integer()) return {};
      shape.push_back(dim.get<int64_t>());
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

ProfileEvent event_of(const Json& event) {
  ProfileEvent result;
  result.name = text_of(event, "name");
  result.name.resize(result.name.size() - kKernel.size());
  if (const auto args = event.find("args"); args != event.end()) {
    result.op_type = text_of(*args, "op_name");
    result.provider = text_of(*args, "provider");
  }
  const Span span = span_of(event);
  result.start = span.start;
  result.duration = span.duration;
  result.inputs = shapes_of(event, "input_type_shape");
  result.outputs = shapes_of(event, "output_type_shape");
  return result;
}

}  // namespace

Profile read_onnxruntime_profile(const Json& events) {
  Profile profile{"onnxruntime", {}};
  std::vector<Span> spans, runs;
  std::vector<ProfileEvent> kernels;
  for (const Json& event : events) {
    const std::string name = text_of(event, "name");
    if (name == "model_run") runs.push_back(span_of(event));
    if (text_of(event, "cat") != "Node" || !name.ends_with(kKernel)) continue;
    spans.push_back(span_of(event));
    kernels.push_back(event_of(event));
  }
  // A control-flow operator's time holds that of its body.
  const std::vector<int64_t> inside = enclosing_spans(spans);
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] < 0) continue;
    double& outer = kernels[static_cast<size_t>(inside[i])].duration;
    outer = std::max(0.0, outer - spans[i].duration);
  }
  std::ranges::sort(runs, {}, &Span::start);
  profile.steps.resize(std::max<size_t>(runs.size(), 1));
  for (ProfileEvent& kernel : kernels) {
    const auto next = std::ranges::upper_bound(runs, kernel.start, {}, &Span::start);
    const auto run = next == runs.begin() ? 0 : next - runs.begin() - 1;
    profile.steps[static_cast<size_t>(run)].push_back(std::move(kernel));
  }
  for (auto& step : profile.steps) std::ranges::stable_sort(step, {}, &ProfileEvent::start);
  return profile;
}

}  // namespace kcharter
