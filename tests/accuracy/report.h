// How near the bound and the estimate come to what was measured, as docs/accuracy.md shows it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "accuracy/measured_operators.h"
#include "accuracy/measured_steps.h"

namespace kcharter::accuracy {

struct Gate {
  std::string what;
  double value = 0;
  double limit = 0;
  bool at_most = true;  // else: at least
  bool passed() const { return at_most ? value <= limit : value >= limit; }
};

struct Accuracy {
  std::vector<MeasuredStep> steps;
  std::vector<MeasuredOperator> operators;
  std::vector<Gate> gates;
};

Accuracy measure_accuracy(const std::filesystem::path& configs, const std::filesystem::path& truth);

// Markdown, the same for the same tables.
std::string report(const Accuracy& accuracy);

}  // namespace kcharter::accuracy
