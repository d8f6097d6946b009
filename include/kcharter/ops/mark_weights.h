// mark_weights: what part of a quantized weight each stored tensor is, and how many parameters a
// packed one stands for, told by the operators that read it. Runs once types are known.
#pragma once

#include "kcharter/model/model.h"

namespace kcharter {

// Fills Initializer::part and logical_elements where the importer left them open. Looks through
// transforms of weights: the scale of a scale (two-level formats) is a scale.
Model mark_weights(Model model);

}  // namespace kcharter
