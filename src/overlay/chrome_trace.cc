// Traces of torch.profiler: torch/csrc/profiler, kineto's output_json.cpp. Kernels of a device carry
// the correlation id of the call that launched them; that call, or an operator of the host, lies in
// the modules that were running: "nn.Module: LlamaMLP_3" (with_modules, with_stack), or what
// record_function names.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "overlay/profile_readers.h"

namespace kcharter {
namespace {

enum class Category { kOther, kHost, kLaunch, kKernel, kModule, kStep };

Category category_of(const std::string& category, const std::string& name) {
  if (name.starts_with("ProfilerStep#")) return Category::kStep;
  if (category == "cpu_op" || category == "Operator") return Category::kHost;
  if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime") return Category::kLaunch;
  if (category == "kernel" || category == "Kernel" || category.starts_with("gpu_mem")) return Category::kKernel;
  if (category == "user_annotation" || category == "python_function") return Category::kModule;
  return Category::kOther;
}

struct Traced {
  Category category;
  std::string name;
  Span span;
  int64_t correlation = -1;
};

// Threads have numbers or names.
class Threads {
 public:
  int64_t of(const Json& event) {
    const auto id = [&](const char* key) {
      const auto found = event.find(key);
      return found == event.end() ? std::string() : found->dump();
    };
    return numbers_.try_emplace(id("pid") + "/" + id("tid"), numbers_.size()).first->second;
  }

 private:
  std::map<std::string, int64_t> numbers_;
};

std::vector<Traced> traced(const Json& events) {
  std::vector<Traced> all;
  Threads threads;
  for (const Json& event : events) {
    Traced one{Category::kOther, text_of(event, "name"), {}, -1};
    one.category = category_of(text_of(event, "cat"), one.name);
    if (one.category == Category::kOther) continue;
    one.span = {number_of(event, "ts", 0), std::max(0.0, number_of(event, "dur", 0)), threads.of(event)};
    const auto args = event.find("args");
    if (args != event.end() && args->is_object()) {
      one.correlation = integer_of(*args, "correlation", -1);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> modules_around(const std::vector<Traced>& all, const std::vector<int64_t>& inside,
                                        int64_t at) {
  constexpr int kMostLevels = 256;
  std::vector<std::string> modules;
  for (int level = 0; at >= 0 && level < kMostLevels; at = inside[static_cast<size_t>(at)], ++level) {
    const Traced& one = all[static_cast<size_t>(at)];
    if (one.category == Category::kModule) modules.push_back(one.name);
  }
  std::ranges::reverse(modules);
  return modules;
}

// An operator of the host holds those it calls.
std::vector<double> self_times(const std::vector<Traced>& all) {
  std::vector<Span> spans;
  std::vector<size_t> hosts;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].category != Category::kHost) continue;
    hosts.push_back(i);
    spans.push_back(all[i].span);
  }
  std::vector<double> self;
  for (const Traced& one : all) self.push_back(one.span.duration);
  const std::vector<int64_t> inside = enclosing_spans(spans);
  for (size_t host = 0; host < hosts.size(); ++host) {
    if (inside[host] < 0) continue;
    double& outer = self[hosts[static_cast<size_t>(inside[host])]];
    outer = std::max(0.0, outer - spans[host].duration);
  }
  return self;
}

}  // namespace

Profile read_chrome_trace(const Json& events) {
  const std::vector<Traced> all = traced(events);
  std::vector<Span> spans, starts;
  std::unordered_map<int64_t, int64_t> launches;
  bool has_kernels = false;
  for (size_t i = 0; i < all.size(); ++i) {
    spans.push_back(all[i].span);
    if (all[i].category == Category::kLaunch) launches[all[i].correlation] = static_cast<int64_t>(i);
    if (all[i].category == Category::kStep) starts.push_back(all[i].span);
    has_kernels |= all[i].category == Category::kKernel;
  }
  const std::vector<int64_t> inside = enclosing_spans(spans);
  const std::vector<double> self = self_times(all);
  std::ranges::sort(starts, {}, &Span::start);
  Profile profile{"chrome-trace", std::vector<std::vector<ProfileEvent>>(std::max<size_t>(starts.size(), 1))};
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].category != (has_kernels ? Category::kKernel : Category::kHost)) continue;
    int64_t from = static_cast<int64_t>(i);
    if (has_kernels) {
      const auto launch = launches.find(all[i].correlation);
      from = launch == launches.end() ? -1 : launch->second;
    }
    const double begun = from < 0 ? all[i].span.start : spans[static_cast<size_t>(from)].start;
    const auto next = std::ranges::upper_bound(starts, begun, {}, &Span::start);
    const auto step = next == starts.begin() ? 0 : next - starts.begin() - 1;
    profile.steps[static_cast<size_t>(step)].push_back(
        {all[i].name, "", has_kernels ? "device" : "cpu", all[i].span.start,
         has_kernels ? all[i].span.duration : self[i], {}, {}, modules_around(all, inside, from)});
  }
  return profile;
}

}  // namespace kcharter
