#include "import/onnx/functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

std::string key_of(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}\x1f{}\x1f{}", canonical_domain(domain), name, overload);
}

bool is_runtime_domain(std::string_view domain) {
  domain = canonical_domain(domain);
  return domain.empty() || domain == "kcharter" || domain == "ai.onnx.ml" || domain == "trt" ||
         domain == "com.microsoft" || domain.starts_with("com.microsoft.") ||
         domain.starts_with("com.ms.") || domain.starts_with("ai.onnx.preview");
}

}  // namespace

FunctionTable::FunctionTable(const std::vector<FileBytes>& functions) {
  for (const FileBytes bytes : functions) {
    LocalFunction function{.view = read_function(bytes)};
    const FunctionView& view = function.view;
    if (is_runtime_domain(view.domain)) continue;
    std::string key = key_of(view.domain, view.name, view.overload);
    if (functions_.try_emplace(key, std::move(function)).second) order_.push_back(std::move(key));
  }
  measure();
}

const LocalFunction* FunctionTable::find(const NodeView& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(key_of(node.domain, node.op_type, node.overload));
  return found == functions_.end() ? nullptr : &found->second;
}

// The keys of the functions that `function` calls, bodies of If and Loop included; counts its own
// nodes on the way.
std::vector<std::string> FunctionTable::calls_of(LocalFunction& function) const {
  std::vector<std::string> calls;
  std::vector<FileBytes> nodes = function.view.nodes;
  while (!nodes.empty()) {
    const NodeView node = read_node(nodes.back());
    nodes.pop_back();
    function.expanded_nodes += 1;
    if (find(node) != nullptr) calls.push_back(key_of(node.domain, node.op_type, node.overload));
    for (const FileBytes attribute : node.attributes) {
      for (const FileBytes graph : read_attribute(attribute).graphs) {
        const GraphView body = read_graph(graph);
        nodes.insert(nodes.end(), body.nodes.begin(), body.nodes.end());
      }
    }
  }
  return calls;
}

// Depth first without recursion: a function's size is known once those of its callees are.
void FunctionTable::measure() {
  struct Visit {
    std::string key;
    std::vector<std::string> calls;
    size_t next = 0;
  };
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::unordered_map<std::string, State> states;
  for (const std::string& root : order_) {
    if (states[root] != State::kNew) continue;
    std::vector<Visit> stack;
    const auto open = [&](const std::string& key) {
      states[key] = State::kOpen;
      stack.push_back({key, calls_of(functions_.at(key)), 0});
    };
    open(root);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next == visit.calls.size()) {
        states[visit.key] = State::kDone;
        stack.pop_back();
        continue;
      }
      const std::string callee = visit.calls[visit.next];
      if (states[callee] == State::kOpen) {
        const LocalFunction& function = functions_.at(callee);
        throw Error(fmt::format("function '{}' of domain '{}' calls itself{}", function.view.name,
                                function.view.domain, stack.size() > 1 ? " through others" : ""));
      }
      if (states[callee] == State::kNew) {
        open(callee);
        continue;
      }
      int64_t& nodes = functions_.at(visit.key).expanded_nodes;
      nodes = std::min(nodes + functions_.at(callee).expanded_nodes, kTooMany);
      visit.next += 1;
    }
  }
}

}  // namespace kcharter
