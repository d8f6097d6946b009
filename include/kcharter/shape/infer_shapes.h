// infer_shapes: fills Value::type and Value::elements of every value, Region::runs and
// Region::trip_count, with symbolic dimensions throughout. Nothing is all-or-nothing: a node without
// a rule leaves unknown outputs and the rest goes on; roots of unknowns are diagnostics.
//
// Two sources, in this order: rules of ours (src/shape/rules_*.cc), symbolic and always with the
// dtype; ONNX's own schema functions, called through an InferenceContext in which a dimension that is
// an Expr travels as a dim_param token. A declared type that contradicts what was inferred is a
// diagnostic; inference wins.
#pragma once

#include "kcharter/model/model.h"

namespace kcharter {

// Data-dependent dimensions become new variables of the model (`nonzero_3_count`).
Model infer_shapes(Model model);

}  // namespace kcharter
