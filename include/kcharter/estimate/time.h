// Time on a device, as two numbers that are never mixed.
//
// The BOUND of the whole model: max(Σ flops/peak, Σ compulsory bytes/bandwidth), where compulsory is
// what no fusion can avoid: weights once, cache and state, graph inputs and outputs. A measured step
// is never faster. (Roofline: Williams, Waterman, Patterson, CACM 52(4), 2009.)
//
// The ESTIMATE, per operator and summed: launch + max(flops/(compute*peak), bytes/(memory*bandwidth))
// with the device's efficiencies. Where these come from the class of device and not from measurements
// of the device itself, the estimate has a band. Shares and ranks use the estimate, since the bound
// gives small operators no time at all.
//
// Views, shape arithmetic and what is folded at load launch nothing. All times are of one step, over
// all instances of a fold.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kcharter/estimate/device.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

enum class BoundBy : uint8_t { kNothing, kCompute, kMemory, kLaunch };
std::string_view name(BoundBy by);  // nothing, compute, memory, launch

// Seconds; `total` is launch + the larger of compute and memory, operator by operator, so of a module
// it is not the larger of its sums.
struct Time {
  double launch = 0;
  double compute = 0;
  double memory = 0;
  double total = 0;
  BoundBy by = BoundBy::kNothing;  // what most of `total` is spent on
  double spent_on_compute = 0;     // parts of total, by what binds each operator
  double spent_on_memory = 0;
  bool complete = true;            // false: something below has unknown work, so it is a lower bound
};

// Which of a device's efficiencies holds for a node that computes in `dtype`: matmul, attention …
std::string_view kind_of_work(const Node& node, DType dtype);

// What one operator has to do in a step, all instances.
struct OperatorWork {
  double flops = 0;
  double bytes = 0;      // moved: weights, cache and activations, read and written
  int64_t launches = 0;  // kernels
  DType dtype = DType::kUnknown;
  std::string_view kind = "matmul";  // as kind_of_work() says
};
Time time_of(const OperatorWork& work, const Device& device);

struct ModelTime {
  std::vector<Time> nodes;    // by NodeId; only templates are filled
  std::vector<Time> modules;  // by ModuleId
  Time estimate;              // the root's
  double bound = 0;
  double bound_compute = 0;
  double bound_memory = 0;
  // The bound if tokens chose their experts evenly and independently: the same without experts, and
  // no bound, since routing may be skewed.
  double bound_of_expected_experts = 0;
  double low = 0;   // the band of the estimate: equal to it on a calibrated device
  double high = 0;
  bool complete = true;
};

// Kernels that the template `node` launches per step, over all its instances.
int64_t launch_count(const Model& model, const ModuleTree& tree, const Estimate& estimate, NodeId node);

// Throws ArithmeticError where a formula has no value at `values`.
ModelTime time_on(const Model& model, const ModuleTree& tree, const Estimate& estimate,
                  const Bindings& values, const Device& device);

}  // namespace kcharter
