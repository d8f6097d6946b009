// lacking_instance: a first layer that lacks nodes which the others run.
//
// Exporters merge equal subexpressions: where the first layer asks for the batch size, the model
// around it has asked before, so that layer reads the answer and all others compute it anew. And a
// sum over experts begins with the second of them. Such instances are matched against the data
// flow, from what they hand on back to what enters them; what the first lacks is named.
#pragma once

#include <optional>
#include <unordered_map>

#include "structure/first_instance.h"

namespace kcharter {

// The items of two instances of one level; the first may lack the last item of the second.
struct InstancePair {
  uint32_t first = 0, first_size = 0;
  uint32_t second = 0, second_size = 0;
};

struct LackingInstance {
  FirstInstance match;
  std::unordered_map<uint32_t, ValueId> stands;   // made in the second → its like in the first
  std::unordered_map<uint32_t, ValueId> entered;  // enters the second → enters the first
};

// nullopt: they differ in more than nodes without weights that the first lacks.
std::optional<LackingInstance> match_lacking_instance(const Level& level, InstancePair pair);

}  // namespace kcharter
