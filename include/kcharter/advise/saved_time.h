// What mending findings saves in time on a device.
//
// `bound`: the bytes at full bandwidth and the flops at the dense peak, one after the other: what
// they cost if nothing hides them. `estimate`: the operator-by-operator estimate of the graph
// (time.h) less that of the mended graph, in which the nodes of a kernel are one operator.
#pragma once

#include <span>
#include <vector>

#include "kcharter/advise/finding.h"
#include "kcharter/estimate/device.h"
#include "kcharter/estimate/estimate.h"
#include "kcharter/estimate/operand_traffic.h"

namespace kcharter {

struct SavedTime {
  double bound = 0;  // seconds of one step
  double estimate = 0;
};

// Numbers of a document on one device, ready to be asked of any set of findings.
class TimePrices {
 public:
  TimePrices(const Model& model, const ModuleTree& tree, const Estimate& estimate,
             const Bindings& values, const Device& device);

  // Of all `sites` mended together. A part that is unknown saves nothing here.
  SavedTime of(std::span<const FindingSite* const> sites);

 private:
  // One run of a node: seconds at the device's peaks.
  struct Numbers {
    bool is_known = false;
    bool launches = false;
    double compute = 0;
    std::vector<OperandTraffic> traffic;
    std::vector<double> memory;  // of each part of traffic
  };
  struct Kernel;

  Numbers numbers_of(NodeId node, const Bindings& values) const;
  const Numbers& numbers(NodeId node);
  double peak(DType dtype) const;
  double seconds(const Kernel& kernel) const;
  void add(Kernel& kernel, NodeId node, const Numbers& numbers) const;

  const Model& model_;
  const ModuleTree& tree_;
  const Estimate& estimate_;
  const Bindings& values_;
  const Device& device_;
  std::vector<Numbers> numbers_;  // by NodeId of a template
  std::vector<double> region_runs_;
};

}  // namespace kcharter
