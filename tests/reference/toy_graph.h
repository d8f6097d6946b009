// Graphs written by hand for tests: names, shapes and wiring, no file.
#pragma once

#include <string>
#include <vector>

#include "kcharter/model/model.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter::reference {

class ToyGraph {
 public:
  ToyGraph() {
    model.graph.regions.emplace_back();
    model.graph.scopes.emplace_back();
  }

  ValueId value(std::vector<Expr> dims, DType dtype = DType::kF32) {
    Value value;
    value.type.dtype = dtype;
    value.type.shape = Shape(dims.begin(), dims.end());
    value.region = RegionId(0);
    model.graph.values.push_back(value);
    return ValueId(model.graph.values.size() - 1);
  }

  ValueId input(std::vector<Expr> dims, DType dtype = DType::kF32) {
    ValueId id = value(std::move(dims), dtype);
    model.graph.inputs.push_back(id);
    return id;
  }

  ValueId weight(const std::vector<int64_t>& dims, DType dtype = DType::kF32) {
    ValueId id = value(std::vector<Expr>(dims.begin(), dims.end()), dtype);
    Initializer initializer;
    initializer.dtype = dtype;
    initializer.dims = dims;
    initializer.value = id;
    Int bytes = byte_size(*element_count(model.graph[id].type), dtype).constant().value();
    initializer.stored_bytes = static_cast<uint64_t>(bytes);
    model.graph.initializers.push_back(initializer);
    model.graph[id].initializer = InitializerId(model.graph.initializers.size() - 1);
    return id;
  }

  NodeId node(std::string op_type, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
              std::vector<Attribute> attributes = {}, std::string domain = "") {
    Node node;
    node.name = op_type + "_" + std::to_string(model.graph.nodes.size());
    node.op_type = std::move(op_type);
    node.domain = std::move(domain);
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    node.attributes = std::move(attributes);
    node.region = RegionId(0);
    NodeId id(model.graph.nodes.size());
    for (ValueId output : node.outputs) {
      if (output) model.graph[output].producer = id;
    }
    model.graph.nodes.push_back(std::move(node));
    return id;
  }

  // A node with one output of the given shape.
  ValueId apply(std::string op_type, std::vector<ValueId> inputs, std::vector<Expr> dims,
                DType dtype = DType::kF32) {
    ValueId out = value(std::move(dims), dtype);
    node(std::move(op_type), std::move(inputs), {out});
    return out;
  }

  Model model;
};

// One module, nothing folded.
inline ModuleTree flat_tree(const Model& model) {
  const Graph& graph = model.graph;
  ModuleTree tree;
  tree.modules.emplace_back();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    tree.template_of_node.emplace_back(i);
    tree.module_of_node.emplace_back(0);
    tree.modules[0].items.push_back({ModuleId(), NodeId(i)});
  }
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    tree.template_of_initializer.emplace_back(i);
    tree.module_of_initializer.emplace_back(0);
    tree.modules[0].initializers.emplace_back(i);
  }
  for (uint32_t i = 0; i < graph.caches.size(); ++i) {
    tree.template_of_cache.push_back(i);
    tree.modules[0].caches.push_back(i);
  }
  for (size_t i = 0; i < graph.values.size(); ++i) tree.template_of_value.emplace_back(i);
  return tree;
}

}  // namespace kcharter::reference
