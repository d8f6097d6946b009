// What a runtime measured, whichever runtime it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kcharter {

struct ProfileEvent {
  std::string name;         // the operator's, without what the runtime hangs on every one
  std::string op_type;      // may be empty
  std::string provider;     // may be empty
  double start = 0;         // microseconds
  double duration = 0;      // of itself, without the events in it
  std::vector<std::vector<int64_t>> inputs, outputs;  // shapes, where the runtime says them
  std::vector<std::string> modules;  // those that were running, outermost first (PyTorch)
};

struct Profile {
  std::string format;  // onnxruntime, chrome-trace
  // In order of time; a step is one run of the model. The warm-up is left out.
  std::vector<std::vector<ProfileEvent>> steps;
};

// Throws Error saying what the text is instead.
Profile read_profile(std::string_view text);

// An interval that may contain others.
struct Span {
  double start = 0, duration = 0;
  int64_t thread = 0;
};

// For each span the index of the one it lies in directly, or -1. Sorts nothing; any order is read.
std::vector<int64_t> enclosing_spans(const std::vector<Span>& spans);

}  // namespace kcharter
