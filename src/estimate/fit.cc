#include "kcharter/estimate/fit.h"

#include <algorithm>
#include <functional>

namespace kcharter {
namespace {

constexpr int64_t kLargestAnswer = int64_t{1} << 40;

Bindings with(Bindings values, std::string_view variable, int64_t value) {
  values[std::string(variable)] = value;
  return values;
}

Bindings with_length(const Bindings& values, int64_t length) {
  return with(with(values, kCurrentLength, length), kMaxLength, length);
}

// The largest n in 1 … kLargestAnswer for which `fits` holds, by doubling and halving: memory never
// shrinks as batch or length grow. 0: not even 1; nullopt: no limit found.
std::optional<int64_t> largest(const std::function<bool(int64_t)>& fits) {
  if (!fits(1)) return 0;
  int64_t good = 1;
  int64_t bad = 2;
  while (fits(bad)) {
    good = bad;
    if (bad >= kLargestAnswer) return std::nullopt;
    bad *= 2;
  }
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

bool fits_at(const Estimate& estimate, const Bindings& values, const Device& device,
             int64_t overhead_bytes) {
  const std::optional<Fit> answer = fit(estimate, values, device, overhead_bytes);
  return answer && answer->fits();  // no answer: past 2^127 bytes
}

}  // namespace

std::optional<Fit> fit(const Estimate& estimate, const Bindings& values, const Device& device,
                       int64_t overhead_bytes) {
  const auto usable = usable_memory_bytes(device);
  const bool is_one = !has_several_devices(values);
  const Quantity& total = is_one ? estimate.total_bytes : estimate.parallel.total_bytes;
  if (!usable || !total.formula) return std::nullopt;
  try {
    const Bindings fullest = is_one ? values : fullest_stage(total, values);
    const Int needed = checked_add(total.formula->evaluate(fullest), overhead_bytes);
    return Fit{needed, *usable, total.exactness != Exactness::kLowerBound};
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

std::optional<int64_t> largest_batch(const Estimate& estimate, const Bindings& values,
                                     const Device& device, int64_t overhead_bytes) {
  if (!fit(estimate, values, device, overhead_bytes)) return std::nullopt;
  return largest([&](int64_t batch) {
    return fits_at(estimate, with(values, kBatchSize, batch), device, overhead_bytes);
  });
}

std::optional<int64_t> longest_length(const Estimate& estimate, const Bindings& values,
                                      const Device& device, int64_t overhead_bytes) {
  if (!fit(estimate, values, device, overhead_bytes)) return std::nullopt;
  return largest([&](int64_t length) {
    return fits_at(estimate, with_length(values, length), device, overhead_bytes);
  });
}

const Device* smallest_device(const Estimate& estimate, const Bindings& values,
                              int64_t overhead_bytes) {
  const Device* smallest = nullptr;
  for (const Device& device : device_table()) {
    const auto answer = fit(estimate, values, device, overhead_bytes);
    if (!answer || !answer->fits()) continue;
    if (!smallest || *usable_memory_bytes(device) < *usable_memory_bytes(*smallest)) {
      smallest = &device;
    }
  }
  return smallest;
}

namespace {

constexpr int64_t kLargestTensorGroup = 64;
constexpr int64_t kMostDevices = 1024;

bool is_refused(const Estimate& estimate, const Bindings& values) {
  return std::any_of(estimate.parallel.conditions.begin(), estimate.parallel.conditions.end(),
                     [&](const SplitCondition& condition) {
                       return condition.code == "refused-split" &&
                              condition.violation.evaluate(values) != 0;
                     });
}

}  // namespace

std::optional<DeviceGroup> fewest_devices(const Estimate& estimate, const Bindings& values,
                                          const Device& device, int64_t overhead_bytes) {
  if (!fit(estimate, values, device, overhead_bytes)) return std::nullopt;
  // Together they hold the weights at least once.
  const auto& weights = estimate.summary[Metric::kWeightBytes].formula;
  const Int least = weights ? weights->constant().value_or(0) : 0;
  const auto usable = usable_memory_bytes(device);
  const int64_t most_stages = std::max<int64_t>(estimate.parallel.layers, 1);
  for (int64_t devices = 1; devices <= kMostDevices; ++devices) {
    if (Int{*usable} * devices < least) continue;
    for (int64_t tensor = kLargestTensorGroup; tensor >= 1; tensor /= 2) {
      if (devices % tensor != 0 || devices / tensor > most_stages) continue;
      Bindings group = with(values, kTensorParallelSize, tensor);
      group = with(group, kPipelineParallelSize, devices / tensor);
      group = with(group, kDataParallelSize, 1);
      group = with(group, kExpertParallelSize, 1);
      if (is_refused(estimate, group)) continue;
      if (fits_at(estimate, group, device, overhead_bytes)) {
        return DeviceGroup{devices, tensor, devices / tensor};
      }
    }
  }
  return std::nullopt;
}

}  // namespace kcharter
