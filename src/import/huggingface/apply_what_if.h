// What-if types on the graph of a checkpoint: formats of single parts of the model, the type of
// activations, and the units that products with weights of a format run in.
#pragma once

#include "kcharter/import/import_model.h"
#include "kcharter/model/model.h"

namespace kcharter {

// Matrices stored as floats take the format of their part; a table that a head shares takes the head's.
// Nodes that multiply with weights whose runtimes quantize activations to match (fp8, int8, nvfp4,
// ggml's blocks) get the attribute `computed_in`, stored formats of the checkpoint's own included.
void apply_what_if(Model& model, const ImportOptions& options);

}  // namespace kcharter
