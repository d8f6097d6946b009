// Finding: one thing in a graph that costs time or memory and need not, at all the places where it
// happens, with what it costs as formulas over the document's variables.
//
//   separate-qkv   model.layers[0:32].self_attn   32 sites   64 launches, 1.3 GB read again
//
// Every saving is the cost of the graph as it is less the cost of the graph with the finding
// mended, and nothing else. Savings of different findings do not add: fused attention takes the
// repeats, the casts and the passes over the scores with it. Advice::total is the graph with all of
// them mended.
//
// The scheme: a site lists what a mended graph no longer does, operand by operand. The union of
// these over all findings is the total.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kcharter/estimate/quantity.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

// Whether the graph has the thing: told by the wiring, told by wiring and convention, or a guess.
enum class Sure : uint8_t { kCertain, kLikely, kPossible };
std::string_view name(Sure sure);  // certain, likely, possible

// What the saving is to what a device would see. Caches may hide a re-read (at most); a runtime may
// make more passes than the graph shows (at least).
enum class Promise : uint8_t { kAtLeast, kAtMost };
std::string_view name(Promise promise);  // at_least, at_most

// What is known of one pattern, whatever the graph.
struct PatternText {
  std::string_view id;         // "scores-materialised"; stable
  std::string_view what;       // one sentence
  std::string_view why;        // why it costs
  std::string_view remedy;     // what to do
  std::string_view mended_by;  // a runtime's pass that mends it at load; empty: none is known
  Promise promise = Promise::kAtMost;
  Sure sure = Sure::kCertain;
};

// What one run of `node` no longer does in a mended graph.
struct Edit {
  static constexpr uint32_t kMostOperands = 20;
  static constexpr uint64_t kAllOperands = uint64_t{1} << 63;
  // Whether the part of an operand that `metric` counts is among `operands`.
  static constexpr bool drops(uint64_t operands, size_t operand, bool is_output, Metric metric) {
    if (operands & kAllOperands) return true;
    if (!is_output) return (operands & input(operand)) != 0;
    return (operands & output(operand)) != 0 ||
           (metric == Metric::kActivationWriteBytes && (operands & old_part(operand)) != 0);
  }
  static constexpr uint64_t input(size_t i) { return i < kMostOperands ? uint64_t{1} << i : 0; }
  static constexpr uint64_t output(size_t i) {
    return i < kMostOperands ? uint64_t{1} << (kMostOperands + i) : 0;
  }
  // Of an output that is a grown cache: all but the new tokens.
  static constexpr uint64_t old_part(size_t i) {
    return i < kMostOperands ? uint64_t{1} << (2 * kMostOperands + i) : 0;
  }

  NodeId node;
  uint64_t operands = 0;  // those no longer moved
  bool launch = false;    // launches no kernel of its own
  bool work = false;      // computes nothing
};

// What no list of operands says: bytes or flops less in each run.
struct Less {
  Metric metric;
  Quantity amount;
};

// One place where a finding happens, in one instance of the folds around it.
struct FindingSite {
  uint32_t finding = 0;
  std::vector<NodeId> kernel;  // nodes that run as one after mending; may be empty
  std::vector<Edit> edits;
  std::vector<Less> less;
  int64_t launches = 0;       // that no edit tells of
  std::vector<ValueId> gone;  // values that no longer exist in memory
  std::string single;         // a variable that `kernel` need only compute at 1: the last token
  bool as_attention = false;  // the kernel is an attention
  DType computes_in = DType::kUnknown;  // the kernel's type, where it changes
};

struct Saving {
  // weight_bytes and cache_copy_bytes resident; flops and bytes moved in one step. 0 elsewhere.
  Metrics metrics;
  Quantity launches;
  // Of the activation peak at the document's variables; nullopt: a size is not known.
  std::optional<Int> peak_bytes = 0;
};

struct Finding {
  const PatternText* pattern = nullptr;
  std::string detail;         // what tells it from others of its pattern: "3 products of one input"
  std::vector<NodeId> nodes;  // templates, in execution order
  ModuleId module;            // the deepest that holds them all
  int64_t sites = 0;          // over all instances of all folds
  // A runtime that computes constants at load never pays it, and the estimate does not count it:
  // it is in no total.
  bool counted = true;
  Saving saves;
};

struct Advice {
  std::vector<Finding> findings;  // by saved time on a nominal device, largest first
  std::vector<FindingSite> sites;
  Saving total;  // all counted findings mended together
};

}  // namespace kcharter
