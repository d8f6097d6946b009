// GraphOf: a small model written by hand, for tests.
//
//   GraphOf g;
//   ValueId x = g.input("x", DType::kF32, {g.batch, 4});
//   ValueId y = g.node("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0}}});
//   Model model = infer_shapes(g.model);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kcharter/model/model.h"

namespace kcharter {

struct GraphOf {
  Model model;
  Expr batch = Expr::variable("batch_size");
  Expr length = Expr::variable("current_length");

  GraphOf() {
    model.graph.regions.emplace_back();
    model.graph.scopes.emplace_back();
  }

  ValueId value(std::string name, TensorType type, RegionId region = RegionId(0)) {
    Value added;
    added.name = std::move(name);
    added.type = std::move(type);
    added.region = region;
    model.graph.values.push_back(std::move(added));
    return ValueId(model.graph.values.size() - 1);
  }

  ValueId input(std::string name, DType dtype, Shape shape) {
    const ValueId id = value(std::move(name), {dtype, std::move(shape)});
    model.graph[id].role = ValueRole::kInput;
    model.graph.inputs.push_back(id);
    return id;
  }

  // A stored tensor; of a small one its numbers are known.
  ValueId stored(std::string name, DType dtype, std::vector<int64_t> dims,
                 std::vector<int64_t> integers = {}, std::vector<double> floats = {}) {
    const ValueId id = value(name, {dtype, shape_of(dims)});
    Initializer initializer;
    initializer.name = name;
    initializer.dtype = dtype;
    initializer.dims = dims;
    initializer.value = id;
    if (!integers.empty() || !floats.empty()) {
      initializer.literal = std::make_shared<const Literal>(
          Literal{dtype, std::move(dims), std::move(integers), std::move(floats)});
    }
    model.graph[id].role = ValueRole::kInitializer;
    model.graph[id].initializer = InitializerId(model.graph.initializers.size());
    model.graph.initializers.push_back(std::move(initializer));
    return id;
  }

  ValueId numbers(std::vector<int64_t> values) {
    const int64_t count = static_cast<int64_t>(values.size());
    return stored("numbers", DType::kInt64, {count}, std::move(values));
  }
  ValueId number(int64_t value) { return stored("number", DType::kInt64, {}, {value}); }

  std::vector<ValueId> nodes(std::string op_type, std::vector<ValueId> inputs, size_t outputs,
                             std::vector<Attribute> attributes = {}, std::string domain = "",
                             RegionId region = RegionId(0)) {
    Node node;
    node.name = op_type + "_" + std::to_string(model.graph.nodes.size());
    node.op_type = std::move(op_type);
    node.domain = std::move(domain);
    node.since_version = node.domain.empty() ? 21 : 1;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.region = region;
    for (size_t i = 0; i < outputs; ++i) {
      const ValueId id = value(node.name + ":" + std::to_string(i), {}, region);
      model.graph[id].producer = NodeId(model.graph.nodes.size());
      node.outputs.push_back(id);
    }
    model.graph.nodes.push_back(node);
    return node.outputs;
  }

  ValueId node(std::string op_type, std::vector<ValueId> inputs,
               std::vector<Attribute> attributes = {}, std::string domain = "",
               RegionId region = RegionId(0)) {
    return nodes(std::move(op_type), std::move(inputs), 1, std::move(attributes), std::move(domain),
                 region)[0];
  }

  RegionId body(RegionKind kind) {
    Region added;
    added.kind = kind;
    added.parent = RegionId(0);
    model.graph.regions.push_back(std::move(added));
    return RegionId(model.graph.regions.size() - 1);
  }
};

}  // namespace kcharter
