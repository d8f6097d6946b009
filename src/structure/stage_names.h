// stage_names: paths of stages and of their instances.
//
//   one module named by a number       model.layers[1:12], instances model.layers.1 …
//   several items, numbers among them  model.layers[0:48], instances model.layers[0:6], [6:12] …
//   modules with other names           encoder[block1..block12], instances encoder.block1 …
//   nodes alone                        [14:98], instances [14:28] …: places in the parent's list of
//   items
#pragma once

#include <string>
#include <vector>

#include "structure/outline.h"

namespace kcharter {

struct StageNames {
  std::string path;
  std::vector<std::string> instances;
};

// Items of `module`: `repeat` times `period` from `begin` on, but the first instance has
// `first_size`.
struct StageItems {
  uint32_t module = 0, begin = 0, period = 0, repeat = 0, first_size = 0;
};
StageNames name_stage(const Outline& outline, const StageItems& items);

}  // namespace kcharter
