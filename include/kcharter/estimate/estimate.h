// estimate: Model + ModuleTree → a Quantity for every metric of every node, module and the model, in
// the meanings of schemas/README.md. Each metric is a total over all instances of a fold; an
// activation peak is not a sum.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/parallel.h"
#include "kcharter/estimate/quantity.h"
#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

// The tokens that one step of a prefill in chunks takes.
inline constexpr std::string_view kPrefillChunkLength = "prefill_chunk_length";

// Policies: the first of each is the default (docs/activation-peak.md).
struct EstimateOptions {
  // Nodes fed only by weights run each step instead of once at load.
  bool as_exported = false;
  // The block of caches of keys and values is kv_block_elements, kv_block_bytes (caches.h).
  bool kv_blocks = false;
  // Attention's scores are written out, not fused.
  bool scores_written = false;
  // Quantized weights are dequantized before they are used, not in the kernel that reads them.
  bool weights_dequantized = false;
  // Activations are those of prefill_chunk_length tokens at once. Checkpoints' prefill only.
  bool prefill_in_chunks = false;
};

// A value that is alive at the activation peak, under the document's default variables.
struct LiveValue {
  ValueId value;
  NodeId birth;  // none: a graph input
  NodeId death;  // none: a graph output
  Quantity bytes;
};

struct DTypeTotal {
  int64_t tensors = 0;
  Int bytes = 0;
};

// Metrics by NodeId where only templates have any: the others read as nothing and take no room. Of
// 93,460 nodes a few hundred are templates.
class NodeMetrics {
 public:
  void resize(size_t nodes) { slots_.resize(nodes, 0); }
  size_t size() const { return slots_.size(); }
  const Metrics& operator[](size_t node) const {
    static const Metrics nothing;
    return slots_[node] == 0 ? nothing : filled_[slots_[node] - 1];
  }
  Metrics& operator[](size_t node) {
    if (slots_[node] == 0) {
      filled_.emplace_back();
      slots_[node] = static_cast<uint32_t>(filled_.size());
    }
    return filled_[slots_[node] - 1];
  }

 private:
  std::vector<uint32_t> slots_;  // 0: nothing; else one more than the place in `filled_`
  std::deque<Metrics> filled_;
};

struct Estimate {
  NodeMetrics nodes;             // by NodeId
  std::vector<Metrics> modules;  // by ModuleId; own nodes and tensors plus children
  Metrics summary;               // the root's
  Quantity total_bytes;          // weights + cache + state + activation peak + cache copy
  std::vector<DType> compute_dtypes;     // by NodeId: the dtype it computes in
  std::vector<bool> folded_at_load;      // by NodeId: fed only by weights
  Operands operands;
  bool as_exported = false;  // what EstimateOptions said
  std::vector<Quantity> region_runs;  // by RegionId: how often it runs in one step
  NodeId peak_node;                      // where the peak is, at the defaults
  std::vector<LiveValue> alive_at_peak;  // largest first
  Quantity scratch_at_peak;              // what its node needs besides, under the policies chosen
  // Where a best-fit allocator puts the activations, at the defaults: an upper bound of what the
  // peak is the lower bound of. nullopt: a size is not known.
  std::optional<Int> packed_peak_bytes;
  ParallelEstimate parallel;             // of one of several devices
  Int parameters = 0;
  Int active_parameters = 0;
  Int stored_elements = 0;
  std::map<std::string, DTypeTotal> dtypes;  // of stored tensors
  std::map<std::string, Int> weight_parts;   // stored bytes by part: plain, payload, scale …
  Diagnostics diagnostics;
};

Estimate estimate(const Model& model, const ModuleTree& tree, const Bindings& defaults,
                  const EstimateOptions& options);

}  // namespace kcharter
