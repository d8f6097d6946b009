// set_tensor_roles: which stored tensors are parameters (trained: weights, norms, embeddings),
// which are buffers (RoPE tables, masks) and which are constants (shapes, axes, scalars). Told by
// what the graph does with each; its name decides only between a small parameter and a scalar
// constant.
#pragma once

#include "kcharter/model/graph.h"

namespace kcharter {

void set_tensor_roles(Graph& graph);

}  // namespace kcharter
