// placement: to which module each node, tensor and cache belongs, before anything is folded.
//
// A node: its scope from the exporter (metadata, function nesting, '/' name); else the module that
// the names of its outputs give ("/encoder/layer.0/LayerNorm/Add_output_0"), or those of its
// weights; else its neighbours: the deepest module that holds both the last placed node before it
// and the first placed node after it in the data flow; else the root. What several layers use is
// then taken out of the layer that bears its name (lift_shared.h).
//
// The body of an If whose other branch runs instead, or of one whose branches are both possible,
// gets a module of its own ("If_0.then"), since both branches carry the same names; so does a body
// without scopes of its own.
//
// A tensor: the module that its name says, if one of its readers is there or none reads it, and it
// is not shared by members of a list of modules; else the deepest module that holds all its readers
// (its only reader's, for most). A cache: its reader's. What no node reads and no name places is in
// "(unattributed)".
#pragma once

#include <vector>

#include "kcharter/model/model.h"
#include "structure/path_table.h"
#include "structure/value_readers.h"

namespace kcharter {

inline constexpr std::string_view kUnattributed = "(unattributed)";

struct Placement {
  PathTable paths;
  std::vector<PathId> nodes;         // by NodeId
  std::vector<PathId> initializers;  // by InitializerId
  std::vector<PathId> caches;        // by index into Graph::caches
};

Placement place(const Model& model, const ValueReaders& readers);

}  // namespace kcharter
