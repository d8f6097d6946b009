// Operators that arrange the same elements under another shape, or put tensors side by side.
#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/reshape_dims.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// Of a shape given as a 1-D tensor of which only the length may be known.
std::optional<Elements> target_of(const NodeInference& node, size_t input) {
  if (const Elements* known = node.elements(input)) return *known;
  const auto rank = constant(node.input_dim(input, 0));
  if (node.input_rank(input) != 1 || !rank || *rank < 0 || *rank > 64) return std::nullopt;
  return Elements(static_cast<size_t>(*rank));
}

void reshape(NodeInference& node) {
  std::optional<Elements> target;
  if (const auto* attribute = ints_attribute(node.node, "shape")) {
    target.emplace();
    for (const int64_t size : *attribute) target->push_back(Element{Expr(size)});
  } else {
    target = target_of(node, 1);
  }
  if (!target) return node.set(0, node.input_dtype(0), std::nullopt);
  const bool zero_is_zero = int_attribute(node.node, "allowzero", 0) != 0;
  node.set(0, node.input_dtype(0), reshape_dims(node.input_shape(0), *target, zero_is_zero));
}

void flatten(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), Shape(2));
  int64_t axis = int_attribute(node.node, "axis", 1);
  const int64_t rank = static_cast<int64_t>(shape->size());
  if (axis < -rank || axis > rank) throw Error("axis " + std::to_string(axis) + " does not exist");
  if (axis < 0) axis += rank;
  const size_t middle = static_cast<size_t>(axis);
  node.set(0, node.input_dtype(0),
           Shape{product(*shape, 0, middle), product(*shape, middle, shape->size())});
}

void transpose(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result;
  if (const auto* order = ints_attribute(node.node, "perm"); order && !order->empty()) {
    if (order->size() != shape->size()) {
      throw Error("perm names " + std::to_string(order->size()) + " axes of a tensor of rank " +
                  std::to_string(shape->size()));
    }
    for (const size_t axis : normalize_axes(*order, shape->size()))
      result.push_back((*shape)[axis]);
  } else {
    result.assign(shape->rbegin(), shape->rend());
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// Where only the number of axes is known: as many dimensions less (sign -1) or more.
std::optional<Shape> ranked(const NodeInference& node, int64_t sign) {
  const auto rank = node.input_rank(0);
  const auto axes = constant(node.input_dim(1, 0));
  if (!rank || !axes || *axes < 0 || *axes > 64 || *rank + sign * *axes < 0) return std::nullopt;
  return Shape(static_cast<size_t>(*rank + sign * *axes));
}

void squeeze(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto axes = node.ints("axes", 1);
  if (shape == nullptr || (!axes && node.has_input(1))) {
    return node.set(0, node.input_dtype(0), ranked(node, -1));
  }
  std::vector<bool> removed(shape->size(), false);
  if (axes) {
    for (const size_t axis : normalize_axes(*axes, shape->size())) removed[axis] = true;
  } else {
    for (size_t i = 0; i < shape->size(); ++i) {
      removed[i] = constant((*shape)[i]) == 1;
      if (!(*shape)[i]) return node.set(0, node.input_dtype(0), std::nullopt);
      if (!removed[i] && !node.at_least((*shape)[i], 2)) {
        node.note("assumed-rank", "Squeeze without axes keeps " + (*shape)[i]->to_string());
      }
    }
  }
  Shape result;
  for (size_t i = 0; i < shape->size(); ++i) {
    if (!removed[i]) result.push_back((*shape)[i]);
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

void unsqueeze(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto axes = node.ints("axes", 1);
  if (shape == nullptr || !axes) return node.set(0, node.input_dtype(0), ranked(node, 1));
  Shape result(shape->size() + axes->size());
  std::vector<bool> inserted(result.size(), false);
  for (const size_t axis : normalize_axes(*axes, result.size())) inserted[axis] = true;
  size_t next = 0;
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = inserted[i] ? Dim(1) : (*shape)[next++];
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

void concat(NodeInference& node) {
  DType dtype = DType::kUnknown;
  std::optional<size_t> rank;
  bool all_ranked = true;
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    if (dtype == DType::kUnknown) dtype = node.input_dtype(i);
    const Shape* shape = node.input_shape(i);
    if (shape == nullptr) {
      all_ranked = false;
    } else if (!rank) {
      rank = shape->size();
    } else if (*rank != shape->size()) {
      throw Error("ranks differ: " + std::to_string(*rank) + " and " +
                  std::to_string(shape->size()));
    }
  }
  if (!rank) return node.set(0, dtype, std::nullopt);
  const int64_t fallback = node.node.since_version > 0 && node.node.since_version < 4 ? 1 : 0;
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", fallback), *rank);
  Shape result(*rank);
  Dim length = Expr(0);
  for (size_t i = 0; i < node.input_count(); ++i) {
    const Shape* shape = node.input_shape(i);
    if (shape == nullptr) continue;
    for (size_t d = 0; d < *rank; ++d) {
      if (d != axis) result[d] = same(node, result[d], (*shape)[d], "dimensions beside the axis");
    }
    length = plus(length, (*shape)[axis]);
  }
  result[axis] = all_ranked ? length : std::nullopt;
  node.set(0, dtype, std::move(result));
}

// ORT's training form also returns the length of each part.
void concat_training(NodeInference& node) {
  concat(node);
  node.set(1, DType::kInt64, Shape{Expr(static_cast<int64_t>(node.input_count()))});
}

void split(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const DType dtype = node.input_dtype(0);
  const size_t parts = node.output_count();
  if (shape == nullptr) {
    for (size_t i = 0; i < parts; ++i) node.set(i, dtype, std::nullopt);
    return;
  }
  const size_t axis = normalize_axis(int_attribute(node.node, "axis", 0), shape->size());
  const auto* sizes = ints_attribute(node.node, "split");
  const Elements* given = node.elements(1);
  if (given != nullptr && given->size() != parts) {
    throw Error(std::to_string(given->size()) + " sizes for " + std::to_string(parts) + " outputs");
  }
  const int64_t count = static_cast<int64_t>(parts);
  for (size_t i = 0; i < parts; ++i) {
    Shape part = *shape;
    if (sizes != nullptr) {
      part[axis] = i < sizes->size() ? Dim(Expr((*sizes)[i])) : std::nullopt;
    } else if (given != nullptr) {
      part[axis] = integer((*given)[i]);
    } else if (node.has_input(1)) {
      part[axis] = std::nullopt;
    } else {
      // Equal parts; the last one takes what is left.
      const Dim size = ceil_divided((*shape)[axis], count);
      part[axis] = i + 1 < parts ? size : minus((*shape)[axis], times(size, Expr(count - 1)));
    }
    node.set(i, dtype, std::move(part));
  }
}

void expand(NodeInference& node) {
  const auto target = target_of(node, 1);
  const Shape* shape = node.input_shape(0);
  if (!target || shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape wanted;
  for (const MaybeElement& size : *target) wanted.push_back(integer(size));
  // torch writes -1 for "as it is".
  for (Dim& dim : wanted) {
    if (constant(dim) == -1) dim = Expr(1);
  }
  node.set(0, node.input_dtype(0), broadcast(node, shape, &wanted));
}

void tile(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result(shape->size());
  const bool old = node.node.since_version > 0 && node.node.since_version < 6;
  if (old) {
    // Version 1: a scalar count and a scalar axis.
    const auto axis = constant(node.scalar(2));
    if (axis) {
      result = *shape;
      const size_t at = normalize_axis(*axis, shape->size());
      result[at] = times(result[at], integer(node.scalar(1)));
    }
  } else if (const Elements* repeats = node.elements(1)) {
    if (repeats->size() != shape->size()) {
      throw Error(std::to_string(repeats->size()) + " repeats for a tensor of rank " +
                  std::to_string(shape->size()));
    }
    for (size_t i = 0; i < shape->size(); ++i)
      result[i] = times((*shape)[i], integer((*repeats)[i]));
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// The pads of every axis, begins then ends, whichever version gives them.
std::optional<Elements> pads_of(const NodeInference& node, size_t rank) {
  const std::vector<int64_t>* attribute = ints_attribute(node.node, "pads");
  if (attribute == nullptr) attribute = ints_attribute(node.node, "paddings");
  Elements given;
  if (attribute != nullptr) {
    for (const int64_t pad : *attribute) given.push_back(Element{Expr(pad)});
  } else if (const Elements* input = node.elements(1)) {
    given = *input;
  } else {
    return std::nullopt;
  }
  if (!node.has_input(3)) {
    if (given.size() != 2 * rank) {
      throw Error(std::to_string(given.size()) + " pads for a tensor of rank " +
                  std::to_string(rank));
    }
    return given;
  }
  const auto axes = node.constants(3);
  if (!axes) return std::nullopt;
  if (given.size() != 2 * axes->size()) {
    throw Error(std::to_string(given.size()) + " pads for " + std::to_string(axes->size()) +
                " axes");
  }
  Elements pads(2 * rank, Element{Expr(0)});
  const std::vector<size_t> at = normalize_axes(*axes, rank);
  for (size_t i = 0; i < at.size(); ++i) {
    pads[at[i]] = given[i];
    pads[rank + at[i]] = given[at.size() + i];
  }
  return pads;
}

void pad(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  const size_t rank = shape->size();
  Shape result(rank);
  if (const auto pads = pads_of(node, rank)) {
    for (size_t i = 0; i < rank; ++i) {
      result[i] = plus((*shape)[i], plus(integer((*pads)[i]), integer((*pads)[rank + i])));
    }
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

void depth_to_space(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const int64_t block = int_attribute(node.node, "blocksize", 0);
  if (shape == nullptr || shape->size() != 4 || block <= 0 || block > (1 << 20)) {
    return node.set(0, node.input_dtype(0), Shape(4));
  }
  node.set(0, node.input_dtype(0),
           Shape{(*shape)[0], floor_divided((*shape)[1], block * block),
                 times((*shape)[2], Expr(block)), times((*shape)[3], Expr(block))});
}

void space_to_depth(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const int64_t block = int_attribute(node.node, "blocksize", 0);
  if (shape == nullptr || shape->size() != 4 || block <= 0 || block > (1 << 20)) {
    return node.set(0, node.input_dtype(0), Shape(4));
  }
  node.set(0, node.input_dtype(0),
           Shape{(*shape)[0], times((*shape)[1], Expr(block * block)),
                 floor_divided((*shape)[2], block), floor_divided((*shape)[3], block)});
}

void center_crop_pad(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *shape;
  std::vector<int64_t> axes;
  if (const auto* given = ints_attribute(node.node, "axes")) {
    axes = *given;
  } else {
    for (size_t i = 0; i < shape->size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  const Elements* sizes = node.elements(1);
  const std::vector<size_t> at = normalize_axes(axes, shape->size());
  for (size_t i = 0; i < at.size(); ++i) {
    result[at[i]] = sizes != nullptr && i < sizes->size() ? integer((*sizes)[i]) : std::nullopt;
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

// Experimental operator of early files: cuts the two last axes by `border` or to `scale`.
void crop(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  const auto* border = ints_attribute(node.node, "border");
  if (shape == nullptr || shape->size() != 4) return node.set(0, node.input_dtype(0), Shape(4));
  Shape result = *shape;
  const auto* scale = ints_attribute(node.node, "scale");
  if (scale != nullptr && scale->size() == 2) {
    result[2] = Expr((*scale)[0]);
    result[3] = Expr((*scale)[1]);
  } else if (border != nullptr && border->size() == 4) {
    result[2] = minus(result[2], Expr((*border)[1]) + Expr((*border)[3]));
    result[3] = minus(result[3], Expr((*border)[0]) + Expr((*border)[2]));
  } else {
    result[2] = result[3] = std::nullopt;
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "CenterCropPad", center_crop_pad},
    {kOnnx, "Concat", concat},
    {kOnnx, "Crop", crop},
    {kOnnx, "DepthToSpace", depth_to_space},
    {kOnnx, "Expand", expand},
    {kOnnx, "Flatten", flatten},
    {kOnnx, "Pad", pad},
    {kOnnx, "Reshape", reshape},
    {kOnnx, "ReverseSequence", same_as_first_input},
    {kOnnx, "SpaceToDepth", space_to_depth},
    {kOnnx, "Split", split},
    {kOnnx, "Squeeze", squeeze},
    {kOnnx, "Tile", tile},
    {kOnnx, "Transpose", transpose},
    {kOnnx, "Trilu", same_as_first_input},
    {kOnnx, "Unsqueeze", unsqueeze},
    {kMicrosoft, "ConcatTraining", concat_training},
    {kMicrosoft, "Pad", pad},
    {kMicrosoft, "Trilu", same_as_first_input},
};

}  // namespace

ShapeRuleFamily layout_shape_rules() { return kEntries; }

}  // namespace kcharter
