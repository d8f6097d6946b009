// find_caches: which graph inputs come back as outputs for the next step. Found by following the
// data from an input through operators that keep or extend a tensor (Concat, attention, scatter,
// recurrence, If) to an output; names only confirm where flow alone cannot tell.
#pragma once

#include "import/onnx/graph_types.h"
#include "kcharter/model/graph.h"

namespace kcharter {

// Fills Graph::caches, but for `format` and `allocated`, which need the bound dimensions.
void find_caches(Graph& graph, const GraphTypes& types);

}  // namespace kcharter
