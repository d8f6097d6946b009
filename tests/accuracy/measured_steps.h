// Steps of whole models that were measured, beside what kcharter says of them. Bytes and operations
// come from its own analysis of the model's configuration; those of the table only cross-check.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accuracy/csv.h"
#include "accuracy/statistics.h"

namespace kcharter::accuracy {

struct MeasuredStep {
  std::string model, device, phase, words;
  std::string memory_class;  // of the device: gddr, soc, hbm, apple, cpu
  int64_t batch = 1;         // 0: as large as was fastest
  double devices = 1;
  Pair seconds;  // of a step, over its devices
  // Bytes of weights that one step reads, ours over the table's; none: it gives none.
  std::optional<double> weight_ratio;
  std::string problem;  // why there is no answer; empty: there is one
};

// The rows of `time_truth.csv`. `configs` are the tree's own, `truth` the folder with the table.
std::vector<MeasuredStep> measured_steps(const std::filesystem::path& configs,
                                         const std::filesystem::path& truth);

}  // namespace kcharter::accuracy
