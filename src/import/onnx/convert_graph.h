// convert_graph: the messages of an ONNX model → Graph. Names become ids, bodies of If, Loop and
// Scan become regions, calls of model-local functions are inlined, Constant nodes become
// initializers. Types are left as they stand in the file (Declaration): their symbols are bound
// afterwards.
#pragma once

#include <vector>

#include "import/onnx/model_view.h"
#include "import/onnx/tensor_table.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/model/graph.h"

namespace kcharter {

// What the file says of a value's type.
struct Declaration {
  ValueId value;
  FileBytes type;
};

struct ConvertedGraph {
  Graph graph;
  std::vector<Declaration> declarations;
};

struct ConversionSource {
  const ModelView& model;
  ExternalFiles& external;
  int32_t embedded_file = 0;  // see TensorTable
  Diagnostics& diagnostics;
};

// Throws Error for what no document can be made of: bodies nested without end, functions that call
// themselves, tensors that cannot exist. Nodes stand in the order of the file; see sort_nodes.h.
ConvertedGraph convert_graph(const ConversionSource& source);

}  // namespace kcharter
