// What operators do with a cache: which input comes out again as which output, and how.
#pragma once

#include <cstdint>
#include <optional>

#include "kcharter/model/graph.h"

namespace kcharter {

enum class CacheStep : uint8_t {
  kMove,        // the same data, perhaps in another shape
  kExtend,      // Concat: new tokens are put behind it
  kCut,         // Slice: only a part goes on
  kWrite,       // new tokens are written into it
  kAttention,   // an attention operator that keeps the cache itself
  kRecurrence,  // the next state of a recurrence
};

struct CachePassage {
  CacheStep step = CacheStep::kMove;
  uint32_t output = 0;        // which output of the node it goes on as
  bool every_output = false;  // Split: as each of them
};

// Nothing where the node computes with input `input` instead of passing it on.
std::optional<CachePassage> cache_passage(const Node& node, uint32_t input);

// Reads only the shape of its inputs.
bool reads_shape_only(const Node& node);

}  // namespace kcharter
