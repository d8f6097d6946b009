// Operators that work element by element or move elements about: parts stay parts as long as the
// axis that is split keeps its order.
#include <algorithm>
#include <optional>

#include "estimate/parallel/layout_rules.h"
#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

constexpr int64_t kMostSegments = 64;

ValueId input(const Node& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : ValueId();
}

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

// The axis of `value` that meets `axis` of `result` under broadcasting; -1: none, or of size 1.
int32_t met_axis(const LayoutPass& pass, ValueId value, ValueId result, const Layout& layout) {
  const int32_t axis = layout.axis - (pass.rank(result) - pass.rank(value));
  if (pass.rank(value) < 0 || axis < 0) return -1;
  return pass.size(value, axis) == width_of(layout) ? axis : -1;
}

void want_pointwise(LayoutPass& pass, const Node& node) {
  const ValueId y = node.outputs[0];
  const Layout& out = pass.wanted(y);
  for (const ValueId value : node.inputs) {
    if (!value) continue;
    const int32_t axis = is_split(out) ? met_axis(pass, value, y, out) : -1;
    pass.want(value, axis >= 0 ? with_axis(out, axis) : Layout{});
  }
}

// The sum of partial sums is a partial sum, and so is one of them times what all devices have.
bool stays_partial(const LayoutPass& pass, const Node& node) {
  size_t partial = 0, whole = 0;
  for (const ValueId value : node.inputs) {
    if (!value || pass.is_constant(value)) continue;
    const Layout& layout = pass.of(value);
    if (layout.kind == LayoutKind::kPartial)
      ++partial;
    else if (layout.kind == LayoutKind::kWhole)
      ++whole;
    else
      return false;
  }
  if (partial == 0) return false;
  if (is_one_of(node.op_type, {"Add", "Sum", "Sub", "BiasAdd"})) return whole == 0;
  if (node.op_type == "Mul") return partial == 1;
  if (node.op_type == "Div")
    return partial == 1 && pass.of(node.inputs[0]).kind == LayoutKind::kPartial;
  return is_one_of(node.op_type, {"Scale", "Cast", "LastToken"});
}

void set_pointwise(LayoutPass& pass, const Node& node) {
  const ValueId y = node.outputs[0];
  if (stays_partial(pass, node)) {
    bool routed = false;
    for (const ValueId value : node.inputs) {
      if (!value) continue;
      if (pass.is_constant(value))
        pass.set_weight(value, {});
      else
        routed = routed || pass.of(value).routed;
    }
    pass.set(y, {.kind = LayoutKind::kPartial, .routed = routed});
    return;
  }
  Layout result;
  bool first = true;
  for (const ValueId value : node.inputs) {
    if (!value || pass.is_constant(value)) continue;
    const Layout& layout = pass.of(value);
    if (layout.kind == LayoutKind::kPartial) pass.gather(value);
    if (!is_split(layout) && !layout.routed) continue;
    Layout there = layout;
    if (is_split(layout)) there.axis += pass.rank(y) - pass.rank(value);
    result = first ? there : common_split(result, there);
    first = false;
  }
  if (!is_split(result) && !result.routed) pass.gather_all(node);
  for (const ValueId value : node.inputs) {
    if (!value || !pass.is_constant(value)) continue;
    const bool is_cut = is_split(result) && met_axis(pass, value, y, result) >= 0;
    pass.set_weight(value, is_cut ? with_axis(result, 0) : Layout{});
  }
  pass.set(y, result);
  pass.set_work(node, result);
}

std::vector<int64_t> permutation(const LayoutPass& pass, const Node& node) {
  const int rank = pass.rank(node.inputs[0]);
  const auto* given = ints_attribute(node, "perm");
  std::vector<int64_t> order;
  for (int i = 0; i < rank; ++i) order.push_back(rank - 1 - i);
  if (given && static_cast<int>(given->size()) == rank) order = *given;
  const bool is_sound = std::all_of(order.begin(), order.end(),
                                    [&](int64_t axis) { return axis >= 0 && axis < rank; });
  return is_sound ? order : std::vector<int64_t>{};
}

void want_transpose(LayoutPass& pass, const Node& node) {
  const Layout& out = pass.wanted(node.outputs[0]);
  const std::vector<int64_t> order = permutation(pass, node);
  const bool can = is_split(out) && static_cast<size_t>(out.axis) < order.size();
  pass.want(
      node.inputs[0],
      can ? with_axis(out, static_cast<int32_t>(order[static_cast<size_t>(out.axis)])) : Layout{});
}

void set_transpose(LayoutPass& pass, const Node& node) {
  Layout layout = pass.of(node.inputs[0]);
  const std::vector<int64_t> order = permutation(pass, node);
  if (is_split(layout)) {
    const auto place = std::find(order.begin(), order.end(), layout.axis);
    if (place == order.end()) {
      pass.gather(node.inputs[0]);
      layout = {};
    } else {
      layout.axis = static_cast<int32_t>(place - order.begin());
    }
  }
  pass.set(node.outputs[0], layout);
  pass.set_work(node, layout);
}

int32_t split_axis(const LayoutPass& pass, const Node& node) {
  const int64_t axis = int_attribute(node, "axis", 0);
  return static_cast<int32_t>(axis < 0 ? axis + pass.rank(node.inputs[0]) : axis);
}

// Along the axis that is taken apart the input is the parts' segments one after the other.
void want_split(LayoutPass& pass, const Node& node) {
  const int32_t axis = split_axis(pass, node);
  Layout all = split(axis, {}, SplitUnit::kElement);
  std::optional<Layout> elsewhere;
  for (const ValueId output : node.outputs) {
    const Layout& out = pass.wanted(output);
    if (!output || !is_split(out)) return pass.want_whole(node);
    if (out.axis != axis) {
      elsewhere = elsewhere ? common_split(*elsewhere, out) : out;
      continue;
    }
    all.segments.insert(all.segments.end(), out.segments.begin(), out.segments.end());
    all.unit = std::max(all.unit, out.unit);
    all.routed = out.routed;
    if (all.segments.size() > static_cast<size_t>(kMostSegments)) return pass.want_whole(node);
  }
  if (elsewhere) {
    pass.want(node.inputs[0], all.segments.empty() ? *elsewhere : Layout{});
    return;
  }
  pass.want(node.inputs[0], all);
}

// How many of `segments`, from `first` on, are exactly `width` together; 0: none do.
size_t segments_of(const std::vector<Segment>& segments, size_t first, int64_t width) {
  size_t count = 0;
  while (width > 0 && first + count < segments.size()) width -= segments[first + count++].width;
  return width == 0 ? count : 0;
}

void set_split(LayoutPass& pass, const Node& node) {
  const ValueId x = node.inputs[0];
  const Layout in = pass.of(x);
  if (!is_split(in) || in.axis != split_axis(pass, node)) {
    for (const ValueId output : node.outputs) pass.set(output, in);
    pass.set_work(node, in);
    return;
  }
  std::vector<Layout> parts;
  size_t first = 0;
  for (const ValueId output : node.outputs) {
    const size_t count = segments_of(in.segments, first, pass.size(output, in.axis));
    if (count == 0) {
      pass.gather(x);
      return;
    }
    Layout part = in;
    part.segments.assign(in.segments.begin() + static_cast<int64_t>(first),
                         in.segments.begin() + static_cast<int64_t>(first + count));
    parts.push_back(std::move(part));
    first += count;
  }
  for (size_t i = 0; i < parts.size(); ++i) pass.set(node.outputs[i], parts[i]);
  pass.set_work(node, in);
}

// Everything that leaves an axis as it is: slices, pads, reductions, normalizations of other axes.
bool keeps_axis(const LayoutPass& pass, const Node& node, ValueId x, int32_t axis, ValueId y) {
  if (pass.rank(x) != pass.rank(y) || pass.size(x, axis) != pass.size(y, axis)) return false;
  if (node.op_type.find("Normalization") != std::string::npos ||
      node.op_type.find("Softmax") != std::string::npos) {
    const int64_t given = int_attribute(node, "axis", -1);
    const int64_t first = given < 0 ? given + pass.rank(x) : given;
    // A norm over the last axis that is split adds up one number a row: too little to count.
    if (node.op_type.find("Normalization") != std::string::npos) {
      return axis < first || axis == pass.rank(x) - 1;
    }
    return axis != first;
  }
  return pass.size(x, axis) > 1;
}

void want_first(LayoutPass& pass, const Node& node) {
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const Layout& out = pass.wanted(y);
  const bool can = is_split(out) && keeps_axis(pass, node, x, out.axis, y);
  pass.want(x, can ? out : Layout{});
  for (size_t i = 1; i < node.inputs.size(); ++i) pass.want(node.inputs[i], {});
}

void set_first(LayoutPass& pass, const Node& node) {
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const Layout in = pass.of(x);
  Layout out = in;
  const bool is_lost = is_split(in) && !keeps_axis(pass, node, x, in.axis, y);
  const bool is_sum =
      in.kind == LayoutKind::kPartial && node.op_type != "LastToken" && node.op_type != "Slice";
  if (is_lost || is_sum) {
    pass.gather(x);
    out = {};
  }
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const ValueId value = node.inputs[i];
    if (!value) continue;
    if (!pass.is_constant(value)) {
      pass.gather(value);
      continue;
    }
    const bool is_cut = is_split_last(pass, y, out) && pass.size(value, -1) == width_of(out);
    pass.set_weight(value, is_cut ? with_axis(out, 0) : Layout{});
  }
  pass.set(y, out);
  pass.set_work(node, out);
}

int64_t concat_axis(const LayoutPass& pass, const Node& node) {
  const int64_t axis = int_attribute(node, "axis", 0);
  return axis < 0 ? axis + pass.rank(node.outputs[0]) : axis;
}

void want_concat(LayoutPass& pass, const Node& node) {
  const Layout& out = pass.wanted(node.outputs[0]);
  const bool can = is_split(out) && out.axis != concat_axis(pass, node);
  for (const ValueId value : node.inputs) pass.want(value, can ? out : Layout{});
}

void set_concat(LayoutPass& pass, const Node& node) {
  Layout result;
  bool is_first = true;
  for (const ValueId value : node.inputs) {
    if (!value || pass.is_constant(value)) continue;
    const Layout& layout = pass.of(value);
    result = is_first ? layout : common_split(result, layout);
    is_first = false;
  }
  if (!is_split(result) || result.axis == concat_axis(pass, node)) {
    pass.gather_all(node);
    result = {};
  }
  pass.set(node.outputs[0], result);
  pass.set_work(node, result);
}

// Gather of one index takes its axis away; of several it keeps the other axes. An Expand or Tile of
// leading axes moves the others to the right.
std::optional<int32_t> gathered_axis(const LayoutPass& pass, const Node& node, int32_t axis) {
  const int data = pass.rank(node.inputs[0]);
  const int64_t given = int_attribute(node, "axis", 0);
  const int64_t picked = given < 0 ? given + data : given;
  const int indices = pass.rank(input(node, 1));
  if (data < 0 || indices < 0 || axis == picked) return std::nullopt;
  return axis < picked ? axis : axis + indices - 1;
}

void want_gather(LayoutPass& pass, const Node& node) {
  const Layout& out = pass.wanted(node.outputs[0]);
  pass.want(input(node, 1), {});
  for (int32_t axis = 0; is_split(out) && axis < pass.rank(node.inputs[0]); ++axis) {
    if (gathered_axis(pass, node, axis) == std::optional(out.axis)) {
      return pass.want(node.inputs[0], with_axis(out, axis));
    }
  }
  pass.want(node.inputs[0], {});
}

void set_gather(LayoutPass& pass, const Node& node) {
  if (pass.is_constant(node.inputs[0])) return find_lookup_rule()->set(pass, node);
  const Layout in = pass.of(node.inputs[0]);
  pass.gather(input(node, 1));
  Layout out = in;
  if (is_split(in)) {
    const auto axis = gathered_axis(pass, node, in.axis);
    if (!axis) pass.gather(node.inputs[0]);
    out = axis ? with_axis(in, *axis) : Layout{};
  }
  pass.set(node.outputs[0], out);
  pass.set_work(node, out);
}

constexpr LayoutRule kPointwise{want_pointwise, set_pointwise};
constexpr LayoutRule kTranspose{want_transpose, set_transpose};
constexpr LayoutRule kSplit{want_split, set_split};
constexpr LayoutRule kConcat{want_concat, set_concat};
constexpr LayoutRule kGather{want_gather, set_gather};
constexpr LayoutRule kFirst{want_first, set_first};

}  // namespace

const LayoutRule* find_movement_rule(const Node& node) {
  const std::string& op = node.op_type;
  if (op == "Transpose") return &kTranspose;
  if (op == "Split") return &kSplit;
  if (op == "Concat") return &kConcat;
  if (op == "Gather") return &kGather;
  if (is_one_of(op, {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout"}))
    return find_view_rule();
  if (is_one_of(op, {"Cast", "CastLike", "Gelu", "FastGelu", "QuickGelu", "BiasGelu", "Swish",
                     "HardSwish", "Mish", "Max", "Min", "Sum", "BiasAdd"})) {
    return &kPointwise;
  }
  if (is_one_of(op, {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization",
                     "Softmax", "LogSoftmax", "Slice", "Pad", "Expand", "Tile", "RotaryEmbedding",
                     "GemmaRotaryEmbedding", "LastToken", "FirstToken", "ReduceSum", "ReduceMean",
                     "ReduceMax", "CumSum", "Trilu"})) {
    return &kFirst;
  }
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  const bool is_elementwise = info && !info->work && !info->is_view && !info->is_shape_arithmetic;
  return is_elementwise ? &kPointwise : nullptr;
}

}  // namespace kcharter
