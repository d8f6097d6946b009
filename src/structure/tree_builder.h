// build_tree: an outline with the repeated parts of each level folded.
#pragma once

#include "kcharter/structure/module_tree.h"
#include "structure/outline.h"
#include "structure/value_readers.h"

namespace kcharter {

ModuleTree build_tree(const Model& model, const Outline& outline, const ValueReaders& readers);

}  // namespace kcharter
