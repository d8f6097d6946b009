// bind_dimensions: the model's own symbols → formulas over the document's variables, for one mode.
//
//   llama, decode   batch → batch_size, sequence_len → 1, past_sequence_len → current_length-1,
//                   past_seq_len + seq_len → current_length
//
// What a symbol stands for is told first by where it stands: the axis of a cache that grows, the
// axes of token ids. Its name decides only where that says nothing, and then a diagnostic says so.
// Symbols that stand for none of the three lengths become variables of their own.
#pragma once

#include "import/onnx/graph_types.h"
#include "kcharter/import/import_model.h"
#include "kcharter/model/model.h"

namespace kcharter {

// Fills Model::bindings, variables and can_decode, the types of graph inputs, what is declared of
// other values, and format and allocated shape of each cache. Throws UsageError for decode of a
// model that keeps nothing from step to step, and for a --dim of no symbol.
void bind_dimensions(Model& model, const GraphTypes& types, const ImportOptions& options);

}  // namespace kcharter
