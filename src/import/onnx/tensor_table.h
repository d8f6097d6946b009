// TensorTable: stored tensors → Graph::initializers, with their places and the numbers of small
// ones.
#pragma once

#include <string>
#include <unordered_map>

#include "import/onnx/external_data.h"
#include "import/onnx/model_view.h"
#include "kcharter/base/diagnostic.h"
#include "kcharter/model/graph.h"

namespace kcharter {

class TensorTable {
 public:
  // `embedded_file` is the index in Model::files of the file that the messages lie in; -1 where
  // they were made from text and lie nowhere.
  TensorTable(Graph& graph, ExternalFiles& external, int32_t embedded_file,
              Diagnostics& diagnostics);

  // Makes `value` the tensor in `message`. Throws Error for dimensions that no tensor can have.
  // A message met before (a constant in a function called twice) becomes an alias of the first.
  void add(FileBytes message, std::string_view name, ValueId value);
  void add_sparse(FileBytes message, std::string_view name, ValueId value);
  // A tensor that is written as numbers in an attribute and has no place of its own.
  void add(Literal literal, std::string_view name, ValueId value);

 private:
  void append(Initializer initializer, ValueId value);
  uint64_t dense_bytes(const Initializer& initializer) const;
  TensorLocation place(const TensorView& tensor, uint64_t bytes);

  Graph& graph_;
  ExternalFiles& external_;
  int32_t embedded_file_;
  Diagnostics& diagnostics_;
  std::unordered_map<uint64_t, InitializerId> by_offset_;
};

}  // namespace kcharter
