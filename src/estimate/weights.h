// Stored weights: bytes on disk and in memory, and the parameters they stand for.
#pragma once

#include <vector>

#include "kcharter/estimate/operands.h"
#include "kcharter/estimate/estimate.h"

namespace kcharter {

// What the tensor occupies; nothing for a second name of another one.
Int resident_bytes(const Initializer& initializer);
// Parameters it stands for: 0 for buffers, constants, scales, zero points and second names.
Int parameter_count(const Initializer& initializer);
// Elements as stored; 0 for a second name.
Int element_total(const Initializer& initializer);

// Fills parameters, active_parameters, stored_elements, dtypes and weight_parts.
void add_up_weights(const Model& model, const Operands& operands, Estimate& estimate);

}  // namespace kcharter
