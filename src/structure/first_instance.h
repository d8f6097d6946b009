// first_instance: a first layer that lacks the carried input.
//
// Optimizers merge the residual addition into the norm behind it. The first layer has no addition
// before its first norm, so there the plain norm is left where all other layers have the merged
// one: RMSNormalization(h) and SkipSimplifiedLayerNormalization(x, skip). The layers are equal but
// for that, so they fold, and the difference is named.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "structure/level.h"

namespace kcharter {

struct FirstInstance {
  std::vector<std::pair<NodeId, NodeId>> nodes;     // of the first and of the second instance
  std::vector<std::pair<NodeId, NodeId>> variants;  // those among them with another operator
  std::vector<std::pair<ValueId, ValueId>> made;
  std::vector<std::pair<uint32_t, uint32_t>> caches;
  std::vector<std::pair<ValueId, ValueId>> given;  // tensors and inputs, each its own
  std::vector<std::pair<ValueId, ValueId>>
      entered;        // all that enters; what the first lacks is left out
  uint32_t size = 0;  // items; one less than the others have where it lacks the last of them
  // See lacking_instance.h: nodes of the second instance that none of the first stands for, that
  // one of them which adds to the carried value, and what the first reads from outside instead.
  std::vector<NodeId> lacks;
  NodeId lacks_carried;
  std::vector<ValueId> read_instead;
};

// Matches the `size` items before `stage`, as many as its period or one less, with its first
// instance; nullopt where they differ in more than that, or are not wired to it as its instances
// are to each other. A stage of one instance, a second without a third, gets its slots from the
// match.
std::optional<FirstInstance> match_first_instance(const Level& level, Stage& stage, uint32_t size);

}  // namespace kcharter
