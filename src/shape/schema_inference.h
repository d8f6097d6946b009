// SchemaInference: ONNX's own type and shape functions for operators that have no rule of ours.
//
// They know numbers and names, not formulas: a dimension that is a formula goes in as a dim_param
// token ("$7") and comes out as the formula it stands for. A dimension the function could not work
// out stays unknown.
#pragma once

#include <memory>

#include "shape/inference.h"

namespace kcharter {

class SchemaInference {
 public:
  SchemaInference();
  ~SchemaInference();
  // False where ONNX has no such operator. Throws Error with ONNX's message where the operands
  // contradict the schema.
  bool infer(NodeInference& node);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kcharter
