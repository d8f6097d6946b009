// The model-local functions: which calls are inlined, and how far that would go.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/onnx/model_view.h"

namespace kcharter {

struct LocalFunction {
  FunctionView view;
  // Nodes after everything in it is inlined, saturating at FunctionTable::kTooMany.
  int64_t expanded_nodes = 0;
};

class FunctionTable {
 public:
  // Nodes that all inlining together may add: 20 times what the largest known exporter nests.
  static constexpr int64_t kMaxInlinedNodes = 200'000;
  static constexpr int64_t kTooMany = int64_t{1} << 40;

  // Throws Error where functions call each other in a circle.
  explicit FunctionTable(const std::vector<FileBytes>& functions);

  // The function to inline for a node; nullptr: the node is an operator. Functions of runtimes'
  // domains are fallbacks for operators that are known by name.
  const LocalFunction* find(const NodeView& node) const;

 private:
  std::vector<std::string> calls_of(LocalFunction& function) const;
  void measure();

  std::unordered_map<std::string, LocalFunction> functions_;
  std::vector<std::string> order_;
};

// "ai.onnx" is another name of the default domain.
inline std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace kcharter
