// Operators that pick, place or count elements: Gather, Slice, Scatter, TopK, NonZero and their
// kin.
#include <algorithm>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"
#include "shape/slice_axis.h"

namespace kcharter {
namespace {

void gather(NodeInference& node) {
  const Shape* data = node.input_shape(0);
  const Shape* indices = node.input_shape(1);
  if (data == nullptr || indices == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), data->size());
  Shape result(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + static_cast<std::ptrdiff_t>(axis) + 1, data->end());
  node.set(0, node.input_dtype(0), std::move(result));
}

void gather_elements(NodeInference& node) { node.set(0, node.input_dtype(0), node.input(1).shape); }

void gather_nd(NodeInference& node) {
  const Shape* data = node.input_shape(0);
  const Shape* indices = node.input_shape(1);
  const auto depth = constant(node.input_dim(1, -1));
  const int64_t batch = int_attribute(node.node, "batch_dims", 0);
  if (data == nullptr || indices == nullptr || indices->empty() || !depth) {
    return node.set(0, node.input_dtype(0), std::nullopt);
  }
  const int64_t rank = static_cast<int64_t>(data->size());
  const int64_t used = batch < 0 || batch > rank || *depth < 0 ? -1 : batch + *depth;
  if (used < 0 || used > rank) {
    throw Error("indices of length " + std::to_string(*depth) + " into a tensor of rank " +
                std::to_string(data->size()));
  }
  Shape result(indices->begin(), indices->end() - 1);
  result.insert(result.end(), data->begin() + used, data->end());
  node.set(0, node.input_dtype(0), std::move(result));
}

// Slice, whose bounds were attributes before version 10.
std::optional<Elements> slice_operand(const NodeInference& node, std::string_view attribute,
                                      size_t input) {
  if (const auto* values = ints_attribute(node.node, attribute)) {
    Elements result;
    for (const int64_t value : *values) result.push_back(Element{Expr(value)});
    return result;
  }
  if (const Elements* known = node.elements(input)) return *known;
  return std::nullopt;
}

void slice(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *shape;
  const auto starts = slice_operand(node, "starts", 1);
  const auto ends = slice_operand(node, "ends", 2);
  const auto given_axes = node.ints("axes", 3);
  const auto steps = node.constants(4);
  const auto count =
      starts ? std::optional(static_cast<int64_t>(starts->size())) : constant(node.input_dim(1, 0));
  if ((node.has_input(3) && !given_axes) || (!given_axes && !count)) {
    return node.set(0, node.input_dtype(0), Shape(shape->size()));
  }
  std::vector<size_t> axes;
  if (given_axes) {
    axes = normalize_axes(*given_axes, shape->size());
  } else {
    if (*count > static_cast<int64_t>(shape->size())) throw Error("more starts than axes");
    for (int64_t i = 0; i < *count; ++i) axes.push_back(static_cast<size_t>(i));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool known = starts && ends && i < starts->size() && i < ends->size() &&
                       (!node.has_input(4) || (steps && i < steps->size()));
    if (!known) {
      result[axes[i]] = std::nullopt;
      continue;
    }
    const SlicedAxis sliced =
        slice_axis((*shape)[axes[i]], (*starts)[i], (*ends)[i], node.has_input(4) ? (*steps)[i] : 1,
                   node.from_weights(0), node.bounds());
    if (sliced.limit_assumed) {
      node.note("assumed-limit", "a table of " + (*shape)[axes[i]]->to_string() +
                                     " entries is taken to be long enough for " +
                                     integer((*ends)[i])->to_string());
    }
    result[axes[i]] = sliced.length;
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// torch.onnx leaves the condition of a Compress to the data.
void compress(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto condition = node.constants(1);
  Dim kept;
  if (condition) {
    kept = Expr(static_cast<int64_t>(std::count_if(condition->begin(), condition->end(),
                                                   [](int64_t flag) { return flag != 0; })));
  } else {
    kept = node.inference.data_dependent_dim(node.node, 0, "count", 0);
  }
  if (find_attribute(node.node, "axis") == nullptr) {
    return node.set(0, node.input_dtype(0), Shape{kept});
  }
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *shape;
  result[normalize_axis(int_attribute(node.node, "axis", 0), result.size())] = kept;
  node.set(0, node.input_dtype(0), std::move(result));
}

void non_zero(NodeInference& node) {
  const auto rank = node.input_rank(0);
  Dim count;
  if (const auto numbers = node.constants(0)) {
    count = Expr(static_cast<int64_t>(std::count_if(numbers->begin(), numbers->end(),
                                                    [](int64_t number) { return number != 0; })));
  } else {
    count = node.inference.data_dependent_dim(node.node, 0, "count", 0);
  }
  node.set(0, DType::kInt64, Shape{rank ? Dim(Expr(*rank)) : std::nullopt, count});
}

void unique(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const Dim count = node.inference.data_dependent_dim(node.node, 0, "count", 1);
  const bool flat = find_attribute(node.node, "axis") == nullptr;
  Dim all;
  if (flat) {
    node.set(0, node.input_dtype(0), Shape{count});
    if (shape != nullptr) all = product(*shape, 0, shape->size());
  } else if (shape != nullptr) {
    Shape result = *shape;
    const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), result.size());
    all = result[axis];
    result[axis] = count;
    node.set(0, node.input_dtype(0), std::move(result));
  } else {
    node.set(0, node.input_dtype(0), std::nullopt);
  }
  node.set(1, DType::kInt64, Shape{count});
  node.set(2, DType::kInt64, Shape{all});
  node.set(3, DType::kInt64, Shape{count});
}

void one_hot(NodeInference& node) {
  node.set(0, node.input_dtype(2),
           with_axis(node.input(0).shape, int_attribute(node.node, "axis", -1),
                     integer(node.scalar(1))));
}

void top_k(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  Dim k;
  if (find_attribute(node.node, "k") != nullptr) {
    k = Expr(int_attribute(node.node, "k", 0));
  } else {
    k = integer(node.scalar(1));
    if (!k) k = node.inference.data_dependent_dim(node.node, 0, "k", 0);
  }
  if (shape == nullptr) {
    node.set(0, node.input_dtype(0), std::nullopt);
    return node.set(1, DType::kInt64, std::nullopt);
  }
  Shape result = *shape;
  result[normalize_axis(int_attribute(node.node, "axis", -1), result.size())] = k;
  node.set(0, node.input_dtype(0), result);
  node.set(1, DType::kInt64, std::move(result));
}

void non_max_suppression(NodeInference& node) {
  node.set(0, DType::kInt64,
           Shape{node.inference.data_dependent_dim(node.node, 0, "count", 0), Expr(3)});
}

void array_feature_extractor(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const Shape* indices = node.input_shape(1);
  if (shape == nullptr || indices == nullptr) {
    return node.set(0, node.input_dtype(0), std::nullopt);
  }
  Shape result = shape->size() < 2 ? Shape{Expr(1), std::nullopt} : *shape;
  result.back() = product(*indices, 0, indices->size());
  node.set(0, node.input_dtype(0), std::move(result));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "Compress", compress},
    {kOnnx, "CumProd", same_as_first_input},
    {kOnnx, "CumSum", same_as_first_input},
    {kOnnx, "Gather", gather},
    {kOnnx, "GatherElements", gather_elements},
    {kOnnx, "GatherND", gather_nd},
    {kOnnx, "NonMaxSuppression", non_max_suppression},
    {kOnnx, "NonZero", non_zero},
    {kOnnx, "OneHot", one_hot},
    {kOnnx, "Scatter", same_as_first_input},
    {kOnnx, "ScatterElements", same_as_first_input},
    {kOnnx, "ScatterND", same_as_first_input},
    {kOnnx, "Slice", slice},
    {kOnnx, "TensorScatter", same_as_first_input},
    {kOnnx, "TopK", top_k},
    {kOnnx, "Unique", unique},
    {kMicrosoft, "GatherND", gather_nd},
    {kMicrosoft, "Unique", unique},
    {kOnnxMl, "ArrayFeatureExtractor", array_feature_extractor},
};

}  // namespace

ShapeRuleFamily indexing_shape_rules() { return kEntries; }

}  // namespace kcharter
