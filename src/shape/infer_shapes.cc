#include "kcharter/shape/infer_shapes.h"

#include <algorithm>

#include "shape/control_flow.h"
#include "shape/declared_types.h"
#include "shape/evaluate_elements.h"
#include "shape/rule_table.h"
#include "shape/schema_inference.h"

namespace kcharter {
namespace {

// Visits per node of the graph, bodies that are visited again included: nested loops must not
// multiply without end.
constexpr size_t kVisitsPerNode = 8;

bool is_known(const Graph& graph, ValueId value) {
  const TensorType& type = graph[value].type;
  return type.dtype != DType::kUnknown &&
         (type.kind == TypeKind::kTensor ? fully_known(type) : true);
}

// Operators whose operands hold sizes: where these are data, a size is a number of its own.
constexpr std::string_view kSizedByData[] = {
    "CenterCropPad", "ConstantOfShape", "Expand", "OneHot", "Pad",      "Reshape",
    "Resize",        "Slice",           "Split",  "Tile",   "Upsample",
};

class Inferrer {
 public:
  explicit Inferrer(Model& model)
      : all_(model),
        control_flow_(all_),
        revisits_left_(kVisitsPerNode * model.graph.nodes.size()) {}

  void run() {
    const Graph& graph = all_.graph;
    for (uint32_t i = 0; i < graph.nodes.size();) {
      const NodeId id{i};
      enter_bodies(id);
      all_.quiet = graph[graph[id].region].runs == RegionRuns::kNo;
      i = visit(id) ? control_flow_.first_of_body(id) : i + 1;
    }
    publish_elements();
  }

 private:
  void enter_bodies(NodeId id) {
    try {
      control_flow_.enter(id);
    } catch (const std::exception& error) {
      NodeInference(all_, id).warn("shape-contradiction", error.what());
    }
  }

  // True where the bodies of the node have to be visited again.
  bool visit(NodeId id) {
    NodeInference node(all_, id);
    reset_outputs(node);
    std::string failure;
    bool again = false;
    try {
      again = infer(node);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (again) return true;
    try {
      apply_declared_types(node);
      if (failure.empty()) name_sizes_from_data(node);
      evaluate_elements(node);
    } catch (const std::exception& error) {
      if (failure.empty()) failure = error.what();
    }
    report(node, failure);
    return false;
  }

  void reset_outputs(NodeInference& node) {
    const bool folded =
        !node.node.inputs.empty() && node.node.bodies.empty() &&
        std::all_of(node.node.inputs.begin(), node.node.inputs.end(),
                    [&](ValueId in) { return !in || all_.facts[in.index].from_weights; });
    for (const ValueId output : node.node.outputs) {
      if (!output) continue;
      node.graph[output].type = {};
      all_.facts[output.index] = {};
      all_.facts[output.index].from_weights = folded || node.node.op_type == "Constant";
    }
  }

  bool infer(NodeInference& node) {
    if (is_control_flow(node.node)) {
      const size_t body = node.id.index - control_flow_.first_of_body(node.id) + 1;
      const bool again = control_flow_.leave(node.id, body <= revisits_left_);
      if (again) revisits_left_ -= body;
      return again;
    }
    if (const ShapeRule rule = find_shape_rule(node.node.domain, node.node.op_type)) {
      rule(node);
    } else {
      schemas_.infer(node);
    }
    return false;
  }

  static bool inputs_known(const NodeInference& node) {
    return std::all_of(node.node.inputs.begin(), node.node.inputs.end(),
                       [&](ValueId input) { return !input || is_known(node.graph, input); });
  }

  // Everything is known of the operands but their numbers: those are data.
  void name_sizes_from_data(NodeInference& node) {
    const auto found =
        std::find(std::begin(kSizedByData), std::end(kSizedByData), node.node.op_type);
    if (found == std::end(kSizedByData) || !node.node.domain.empty() || !inputs_known(node)) return;
    for (size_t i = 0; i < node.output_count(); ++i) {
      if (!node.has_output(i)) continue;
      std::optional<Shape>& shape = node.graph[node.node.outputs[i]].type.shape;
      for (size_t axis = 0; shape && axis < shape->size(); ++axis) {
        Dim& dim = (*shape)[axis];
        if (!dim) dim = all_.data_dependent_dim(node.node, i, "size_" + std::to_string(axis), 0);
      }
    }
  }

  // Only the root of what is unknown: all inputs known, an output not.
  void report(NodeInference& node, const std::string& failure) {
    if (!failure.empty()) {
      node.warn("shape-contradiction", failure);
      return;
    }
    const bool unknown =
        std::any_of(node.node.outputs.begin(), node.node.outputs.end(),
                    [&](ValueId output) { return output && !is_known(node.graph, output); });
    if (!unknown) return;
    if (!inputs_known(node)) return;
    const std::string op =
        node.node.domain.empty() ? node.node.op_type : node.node.domain + "::" + node.node.op_type;
    node.warn("unknown-shape", "what " + op + " gives has a shape that is not known");
  }

  void publish_elements() {
    for (size_t i = 0; i < all_.graph.values.size(); ++i) {
      Value& value = all_.graph.values[i];
      const auto& known = all_.facts[i].elements;
      if (known == nullptr || value.elements != nullptr) continue;
      std::vector<Expr> numbers;
      for (const MaybeElement& number : *known) {
        if (!integer(number)) break;
        numbers.push_back(number->numerator);
      }
      if (numbers.size() != known->size()) continue;
      value.elements = std::make_shared<const std::vector<Expr>>(std::move(numbers));
    }
  }

  Inference all_;
  ControlFlow control_flow_;
  SchemaInference schemas_;
  size_t revisits_left_;
};

}  // namespace

Model infer_shapes(Model model) {
  Inferrer(model).run();
  return model;
}

}  // namespace kcharter
