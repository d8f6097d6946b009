// Module paths as exporters write them: in a node's metadata, by nested functions, or in its name.
//
//   torch's metadata   ['', 'model', 'model.layers.1', 'linear']      each part a whole path, then
//   the op onnxscript's       ['', 'model', 'layers.1', 'self_attn']         each part below the
//   last names              /layer2/layer2.1/conv3/Conv                    layer2, 1, conv3: then
//   the op
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/onnx/model_view.h"
#include "kcharter/model/graph.h"

namespace kcharter {

class ScopeTable {
 public:
  explicit ScopeTable(std::vector<Scope>& scopes);

  // `outer` is the scope of the function whose body holds the node; the empty scope elsewhere.
  // `in_body`: inside If, Loop or Scan, where torch's metadata loses the modules.
  ScopeId of_node(const NodeView& node, ScopeId outer, bool in_body);
  // The scope of the body of a function that `call` calls, itself inside `outer`.
  ScopeId of_function(const NodeView& call, std::string_view function, ScopeId outer, bool in_body);

 private:
  ScopeId intern(Scope scope);
  ScopeId of_metadata(std::string_view scopes, std::string_view classes, bool absolute);
  ScopeId of_namespace(std::string_view text);

  std::vector<Scope>& scopes_;
  size_t segments_ = 0;  // of all scopes
  std::unordered_map<std::string, uint32_t> interned_;
  // What was read before: the texts lie in the file, which outlives the table.
  std::unordered_map<std::string_view, ScopeId> by_metadata_;
  std::map<uint32_t, std::unordered_map<std::string_view, ScopeId>>
      by_name_;  // within each outer scope
};

// The parts of a Python list of strings as repr() writes it; empty where it is none.
std::vector<std::string> parse_python_list(std::string_view text);
// The segments of a node name with slashes, the operator at its end left out.
std::vector<std::string> segments_of_name(std::string_view name);

}  // namespace kcharter
