// overlay: a profile that a runtime wrote, joined to the tree of a document.
//
//   Overlay measured = overlay(document_json, profile_json, "profile.json");
//   measured.document;                   // the document with the member "measured"
//   measured.share(JoinedBy::kName);     // of the measured time
//
// A runtime names each operator of each layer, fuses some, inlines functions and adds its own; a
// document holds one node for all layers. Events are joined by exact name first (a node's, or that
// of a value it makes), then by the name the runtime made theirs from, then, where a fused or added
// operator has no name of its own, by what runs before it. What is left over is listed with its time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/base/integer.h"

namespace kcharter {

enum class JoinedBy : uint8_t {
  kName,     // a node's or value's own
  kRenamed,  // what the runtime's name was made from
  kOrder,    // no name of its own: beside the node whose result it takes
  kModule,   // the module that was running (PyTorch)
  kNothing,
};
inline constexpr size_t kJoinKinds = 5;
std::string_view name(JoinedBy by);  // name, renamed, order, module, nothing

struct UnjoinedTime {
  std::string name;
  std::string op_type;
  double microseconds = 0;  // of one step
};

// A size in the profile that the document's formulas do not give at any setting found.
struct Contradiction {
  uint32_t node = 0;
  std::string name;      // as the profile calls it
  std::string expected;  // "[2, 16, 64]" by the document's formula
  std::string measured;
};

// A node or module as its document calls it, for lists that people read.
struct MeasuredPart {
  std::string name;
  std::string path;  // of its module
  std::string kind;  // operator, or kind of module
  double microseconds = 0;
};

struct Overlay {
  std::string document;              // JSON
  std::string format;                // onnxruntime, chrome-trace
  std::string provider;              // what ran most of the time: CPUExecutionProvider, cuda …; may be empty
  int64_t steps = 0;                 // averaged over; the first is left out as warm-up where there are more
  double step_microseconds = 0;      // all events of one step, each without what it contains
  std::array<double, kJoinKinds> microseconds{};  // by JoinedBy
  std::map<std::string, Int> variables;  // the settings it ran at, as far as its sizes tell
  std::vector<double> nodes;         // microseconds of one step by node of the document, all instances
  std::vector<double> modules;       // by module, children included
  std::vector<MeasuredPart> slowest_nodes, slowest_modules;  // the top of them, longest first
  std::vector<UnjoinedTime> unjoined;       // longest first
  std::vector<Contradiction> contradictions;

  double share(JoinedBy by) const {
    const double part = microseconds[static_cast<size_t>(by)];
    return step_microseconds > 0 ? part / step_microseconds : 0;
  }
};

// Reads profiles of ONNX Runtime (a JSON array of events) and traces of PyTorch's profiler (Chrome
// trace events); `source` is what to call it. Throws Error: not a document, not a profile, nothing
// measured in it.
Overlay overlay(std::string_view document, std::string_view profile, std::string_view source);

// What was joined, the slowest modules and operators, and what was not joined, as a table.
std::string overlay_table(const Overlay& overlay, size_t width);

}  // namespace kcharter
