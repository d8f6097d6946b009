// What an operator needs beside its inputs and outputs under a policy: scores of attention that are
// written out instead of fused, weights that are dequantized before they are used.
#pragma once

#include <optional>

#include "kcharter/estimate/estimate.h"

namespace kcharter {

// `current_length` of the values of a step, under chunked prefill min(prefill_chunk_length, …).
Expr in_chunks(const Expr& formula, const EstimateOptions& options);

// The scores of all heads, queries and keys and their softmax, alive together; 0 where the node
// attends to nothing or scores are fused; nullopt: not known.
std::optional<Expr> score_bytes(const Graph& graph, NodeId node, const EstimateOptions& options);

// The quantized matrices that the node reads, in the type that it computes in, one expert at a
// time; by the stored tensor they come from.
struct DequantizedWeight {
  InitializerId stored;
  Expr bytes;
};
std::vector<DequantizedWeight> dequantized_weights(const Graph& graph, const Operands& operands,
                                                   NodeId node, const EstimateOptions& options);

// All of it; 0 where there is none.
std::optional<Expr> scratch_bytes(const Graph& graph, const Operands& operands, NodeId node,
                                  const EstimateOptions& options);

}  // namespace kcharter
