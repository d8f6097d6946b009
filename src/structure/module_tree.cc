#include "kcharter/structure/module_tree.h"

#include "structure/outline.h"
#include "structure/placement.h"
#include "structure/tree_builder.h"

namespace kcharter {

ModuleTree build_module_tree(const Model& model) {
  ValueReaders readers(model.graph);
  Placement placement = place(model, readers);
  return build_tree(model, make_outline(model.graph, readers, placement), readers);
}

}  // namespace kcharter
