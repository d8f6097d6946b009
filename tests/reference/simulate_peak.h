// The activation peak as one would find it by hand: at every step, for every value, ask whether it
// is needed now, and add up its bytes. Slow and obvious; knows nothing of the estimate's own data.
#pragma once

#include "kcharter/model/model.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter::reference {

// nullopt: the size of a value that is alive at some step is not known.
std::optional<Int> simulate_peak(const Model& model, const Bindings& values);

}  // namespace kcharter::reference
