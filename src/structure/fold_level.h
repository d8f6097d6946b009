// fold_level: which items of a level become stages.
#pragma once

#include <vector>

#include "structure/level.h"

namespace kcharter {

// A node of one instance and the node of the first instance that stands for it.
struct NodePair {
  NodeId stands;
  NodeId node;
};

struct FoldedStage {
  Stage stage;
  // The first instance lacks the carried input: it is not equal to the second, and this is how
  // their nodes pair up. `stage` was verified from the second instance on.
  bool first_differs = false;
  std::vector<NodePair> first_pairs;
  std::vector<std::string> differences;

  uint32_t begin() const { return stage.begin - (first_differs ? stage.period : 0); }
  uint32_t end() const { return stage.begin + stage.period * stage.repeat; }
  uint32_t period() const { return stage.period; }
  uint32_t repeat() const { return stage.repeat + (first_differs ? 1 : 0); }
};

// The stages of items [begin, end) in order; they do not overlap. `shifts` holds the distances to
// the other instances of a stage around them, where they fold too or not at all.
std::vector<FoldedStage> fold_level(const Level& level, uint32_t begin, uint32_t end,
                                    const std::vector<uint32_t>& shifts);

}  // namespace kcharter
