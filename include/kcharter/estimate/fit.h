// Fit: does a model fit a device, and the inverse questions on the true piecewise curves: the largest
// batch at a length, the longest sequence at a batch, the smallest device.
//
//   needed = weights + cache + state + activation peak + cache copy + overhead
//
// `overhead_bytes` is what the runtime itself takes (context, graphs, workspace): not in any model
// file, so 0 unless the caller says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kcharter/estimate/device.h"
#include "kcharter/estimate/estimate.h"

namespace kcharter {

struct Fit {
  Int needed = 0;
  int64_t usable = 0;
  bool complete = true;  // false: something is unknown, so `needed` is a lower bound
  bool fits() const { return needed <= usable; }
  Int free() const { return usable - needed; }  // negative: by how much it is exceeded
};

// Of one device of those that the parallel sizes in `values` say, the fullest.
// nullopt: the total is unknown or past 2^127, or the device's memory is as much as is built in.
std::optional<Fit> fit(const Estimate& estimate, const Bindings& values, const Device& device,
                       int64_t overhead_bytes = 0);

// The largest batch_size that fits with everything else as in `values`; 0: not even one.
// nullopt: no limit up to 2^40, or fit() has no answer.
std::optional<int64_t> largest_batch(const Estimate& estimate, const Bindings& values,
                                     const Device& device, int64_t overhead_bytes = 0);
// The longest sequence that fits: current_length = max_length = the answer.
std::optional<int64_t> longest_length(const Estimate& estimate, const Bindings& values,
                                      const Device& device, int64_t overhead_bytes = 0);
// The device of the table with the least usable memory that fits; nullptr: none.
const Device* smallest_device(const Estimate& estimate, const Bindings& values,
                              int64_t overhead_bytes = 0);

// The fewest devices alike that hold the model: tensor groups of a power of two, in as many pipeline
// stages as it takes, of splits that engines do not refuse.
struct DeviceGroup {
  int64_t devices = 1;
  int64_t tensor_parallel = 1;
  int64_t pipeline_parallel = 1;
};
// nullopt: no group of up to 1,024, or fit() has no answer. Of as many devices the one with the
// largest tensor group.
std::optional<DeviceGroup> fewest_devices(const Estimate& estimate, const Bindings& values,
                                          const Device& device, int64_t overhead_bytes = 0);

}  // namespace kcharter
