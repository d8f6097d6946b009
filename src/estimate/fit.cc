#include "kcharter/estimate/fit.h"

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
  if (!usable || !estimate.total_bytes.formula) return std::nullopt;
  try {
    const Int needed = checked_add(estimate.total_bytes.formula->evaluate(values), overhead_bytes);
    return Fit{needed, *usable, estimate.total_bytes.exactness != Exactness::kLowerBound};
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

}  // namespace kcharter
