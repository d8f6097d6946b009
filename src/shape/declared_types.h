// apply_declared_type: what the file says of a value beside what was inferred. Inference wins;
// where it found nothing the declaration fills in.
#pragma once

#include "shape/inference.h"

namespace kcharter {

void apply_declared_types(NodeInference& node);

}  // namespace kcharter
