// fold_level: which items of a level become stages.
#pragma once

#include <vector>

#include "structure/first_instance.h"
#include "structure/level.h"

namespace kcharter {

struct FoldedStage {
  Stage stage;
  // The first instance lacks the carried input; `stage` was verified from the second one on.
  std::optional<FirstInstance> first;

  uint32_t begin() const { return stage.begin - (first ? first->size : 0); }
  uint32_t end() const { return stage.begin + stage.period * stage.repeat; }
  uint32_t period() const { return stage.period; }
  // Items of the first instance.
  uint32_t first_size() const { return first ? first->size : stage.period; }
  uint32_t repeat() const { return stage.repeat + (first ? 1 : 0); }
};

// The stages of items [begin, end) in order; they do not overlap. `shifts` holds the distances to
// the other instances of a stage around them, where they fold too or not at all.
std::vector<FoldedStage> fold_level(const Level& level, uint32_t begin, uint32_t end,
                                    const std::vector<uint32_t>& shifts);

}  // namespace kcharter
