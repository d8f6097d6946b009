// Operators that reduce axes, and those that keep the shape while they look along one.
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

Shape reduced(const Shape& shape, const std::vector<bool>& gone, bool keep) {
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!gone[i])
      result.push_back(shape[i]);
    else if (keep)
      result.push_back(Expr(1));
  }
  return result;
}

void reduce(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto axes = node.ints("axes", 1);
  const bool keep = int_attribute(node.node, "keepdims", 1) != 0;
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  if (!axes && node.has_input(1) && constant(node.input_dim(1, 0)) != 0) {
    const auto count = constant(node.input_dim(1, 0));
    const int64_t rank = static_cast<int64_t>(shape->size());
    std::optional<Shape> result;
    if (keep)
      result = Shape(shape->size());
    else if (count && *count > 0 && *count <= rank)
      result = Shape(static_cast<size_t>(rank - *count));
    return node.set(0, node.input_dtype(0), std::move(result));
  }
  std::vector<bool> gone(shape->size(), false);
  if (axes && !axes->empty()) {
    for (const size_t axis : normalize_axes(*axes, shape->size())) gone[axis] = true;
  } else if (int_attribute(node.node, "noop_with_empty_axes", 0) == 0) {
    gone.assign(shape->size(), true);
  }
  node.set(0, node.input_dtype(0), reduced(*shape, gone, keep));
}

void arg_max(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, DType::kInt64, std::nullopt);
  std::vector<bool> gone(shape->size(), false);
  gone[normalize_axis(int_attribute(node.node, "axis", 0), shape->size())] = true;
  node.set(0, DType::kInt64, reduced(*shape, gone, int_attribute(node.node, "keepdims", 1) != 0));
}

// Loss: a scalar, or with reduction "none" one number for each label.
void negative_log_likelihood(NodeInference& node) {
  const bool each = string_attribute(node.node, "reduction", "mean") == "none";
  node.set(0, node.input_dtype(0), each ? node.input(1).shape : std::optional(Shape{}));
}

void softmax_cross_entropy(NodeInference& node) {
  negative_log_likelihood(node);
  node.set(1, node.input(0));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "ArgMax", arg_max},
    {kOnnx, "ArgMin", arg_max},
    {kOnnx, "Hardmax", same_as_first_input},
    {kOnnx, "LogSoftmax", same_as_first_input},
    {kOnnx, "NegativeLogLikelihoodLoss", negative_log_likelihood},
    {kOnnx, "ReduceL1", reduce},
    {kOnnx, "ReduceL2", reduce},
    {kOnnx, "ReduceLogSum", reduce},
    {kOnnx, "ReduceLogSumExp", reduce},
    {kOnnx, "ReduceMax", reduce},
    {kOnnx, "ReduceMean", reduce},
    {kOnnx, "ReduceMin", reduce},
    {kOnnx, "ReduceProd", reduce},
    {kOnnx, "ReduceSum", reduce},
    {kOnnx, "ReduceSumSquare", reduce},
    {kOnnx, "Softmax", same_as_first_input},
    {kOnnx, "SoftmaxCrossEntropyLoss", softmax_cross_entropy},
    {kMicrosoft, "BiasSoftmax", same_as_first_input},
    {kMicrosoft, "ReduceSumInteger", reduce},
    {kMicrosoft, "SoftmaxCrossEntropyLossInternal", softmax_cross_entropy},
};

}  // namespace

ShapeRuleFamily reduction_shape_rules() { return kEntries; }

}  // namespace kcharter
