// tree_text: a module tree as short text, for goldens and for people.
//
//   model
//     embed_tokens  [1 node, 1 tensor] Embedding
//     layers
//       Stage 1 × 12  model.layers[0:12]  [LlamaDecoderLayer]
#pragma once

#include <string>

#include "kcharter/structure/module_tree.h"

namespace kcharter {

std::string tree_text(const ModuleTree& tree);

}  // namespace kcharter
