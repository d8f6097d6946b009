// What one run of one node moves, operand by operand: the parts that its metrics are the sums of.
#pragma once

#include <cstdint>
#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/quantity.h"

namespace kcharter {

struct OperandTraffic {
  uint32_t operand = 0;  // index into the node's inputs, or its outputs
  bool is_output = false;
  Metric metric = Metric::kActivationReadBytes;  // one of the five of bytes moved
  Quantity bytes;
};

// A grown copy of a cache has two parts for one output: the new tokens and the rest. Nothing for a
// node that costs nothing.
std::vector<OperandTraffic> operand_traffic(const Graph& graph, const Operands& operands,
                                            NodeId node);

}  // namespace kcharter
