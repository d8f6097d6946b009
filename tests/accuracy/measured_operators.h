// Single operators that were measured, beside what kcharter says of a graph of that one operator.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "accuracy/statistics.h"

namespace kcharter::accuracy {

struct MeasuredOperator {
  std::string device;
  std::string kind;       // "bf16 GEMM", "fp8 GEMM", "prefill attention", "decode attention"
  bool in_cache = false;  // measured with operands in the last-level cache
  Pair seconds;
  double flops_ratio = 1;  // ours over the table's
  double bytes_ratio = 1;
  std::string problem;  // why there is no answer; empty: there is one
};

// The rows of `op_truth.csv` in the folder.
std::vector<MeasuredOperator> measured_operators(const std::filesystem::path& truth);

}  // namespace kcharter::accuracy
