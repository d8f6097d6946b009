// advise: what in a graph wastes time or memory, and what mending it would save.
#pragma once

#include <span>

#include "kcharter/advise/finding.h"
#include "kcharter/estimate/estimate.h"

namespace kcharter {

// Finds on the whole graph and tells on its templates. `values` are the document's variables: the
// formulas hold for any, the order and the peaks for these.
Advice advise(const Model& model, const ModuleTree& tree, const Estimate& estimate,
              const Bindings& values);

// What mending some sites of an advice together saves: those of a pattern, of a module.
Saving saving_of(const Model& model, const ModuleTree& tree, const Estimate& estimate,
                 const Bindings& values, std::span<const FindingSite* const> sites);

// Every pattern that is looked for, in the order of the search.
std::span<const PatternText* const> known_patterns();

}  // namespace kcharter
