// What each value of a graph is to the estimates: a weight known before the first step, part of a
// cache, or an activation; and whose memory it is.
#pragma once

#include <vector>

#include "kcharter/model/graph.h"

namespace kcharter {

inline constexpr uint32_t kNoCache = UINT32_MAX;

struct Operands {
  // By NodeId: fed only by weights, so that it runs once at load and not in a step.
  std::vector<bool> folded;
  // By NodeId: moves and computes nothing: a view, or shape arithmetic on the host.
  std::vector<bool> is_view;
  std::vector<bool> on_host;
  // By ValueId: an initializer or computed from initializers alone.
  std::vector<bool> constant;
  // By ValueId: the value whose memory it is: itself, or what a chain of views started from.
  std::vector<ValueId> memory;
  // By ValueId of such a memory: the cache that is its input or its output; kNoCache.
  std::vector<uint32_t> cache_in;
  std::vector<uint32_t> cache_out;

  // Caches of keys and values are stored in blocks of a format that is a variable (caches.h).
  bool kv_blocks = false;

  bool costs_nothing(NodeId node) const {
    return folded[node.index] || on_host[node.index] || is_view[node.index];
  }
  ValueId memory_of(ValueId value) const { return memory[value.index]; }
  bool is_cache(ValueId value) const {
    uint32_t root = memory[value.index].index;
    return cache_in[root] != kNoCache || cache_out[root] != kNoCache;
  }
};

Operands classify_operands(const Graph& graph, bool as_exported);

// The stored tensors that a read of a constant really reads: a weight behind Identity, Transpose,
// Reshape, Cast or DequantizeLinear is read as it is stored (a fused kernel); a constant computed
// in any other way is kept as computed, and `stored` is empty.
struct ConstantSource {
  std::vector<InitializerId> stored;
  Int stored_bytes = 0;
};
ConstantSource source_of_constant(const Graph& graph, ValueId value);

}  // namespace kcharter
