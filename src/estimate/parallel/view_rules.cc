// Views: the same elements under another shape. A cut of one shape is a cut of the other where it
// begins at the same element and runs through whole blocks of an axis.
#include <optional>

#include "estimate/parallel/layout_rules.h"

namespace kcharter {
namespace {

constexpr int64_t kMostSegments = 64;

std::optional<Dim> before(const Shape& shape, size_t axis) {
  Dim product = Expr(1);
  for (size_t i = 0; i < axis; ++i) {
    if (!shape[i]) return std::nullopt;
    try {
      product = *product * *shape[i];
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }
  return product;
}

std::optional<int64_t> constant_of(const Dim& dim) {
  if (!dim || !dim->constant() || *dim->constant() < 1 || *dim->constant() > INT32_MAX) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*dim->constant());
}

// The cut begins at the same element on both sides.
std::optional<Layout> same_start(const Layout& layout, const Shape& to, size_t axis) {
  const auto width = constant_of(to[axis]);
  if (!width || *width == 1) return std::nullopt;
  Layout result = layout;
  result.axis = static_cast<int32_t>(axis);
  if (*width == width_of(layout)) return result;
  if (layout.segments.size() != 1) return std::nullopt;
  const int64_t units = layout.segments[0].units;
  result.segments = {{*width, units}};
  if (*width % units == 0) return result;
  if (units % *width != 0) return std::nullopt;
  // Fewer of them there: heads of keys and values that several heads of queries share.
  result.segments = {{*width, *width}};
  if (layout.unit == SplitUnit::kHead) result.unit = SplitUnit::kKeyValueHead;
  return result;
}

// The cut lies inside an axis that holds `times` blocks before it: [3, heads, size] in
// [3·heads·size].
std::optional<Layout> repeated_start(const Layout& layout, const Shape& to, size_t axis,
                                     Int times) {
  const auto width = constant_of(to[axis]);
  if (!width || times < 2 || times > kMostSegments || *width % times != 0) return std::nullopt;
  if (layout.segments.size() != 1) return std::nullopt;
  const int64_t part = *width / static_cast<int64_t>(times);
  if (part % layout.segments[0].units != 0) return std::nullopt;
  Layout result = layout;
  result.axis = static_cast<int32_t>(axis);
  result.segments.assign(static_cast<size_t>(times), {part, layout.segments[0].units});
  return result;
}

std::optional<Int> ratio(const Dim& whole, const Dim& part) {
  if (*whole == *part) return 1;
  const auto a = whole->terms(), b = part->terms();
  if (a.size() != 1 || b.size() != 1 || !(a[0].second == b[0].second)) return std::nullopt;
  if (b[0].first == 0 || a[0].first % b[0].first != 0) return std::nullopt;
  return a[0].first / b[0].first;
}

std::optional<Layout> across_view(const Layout& layout, const Shape& from, const Shape& to) {
  if (!is_split(layout) || static_cast<size_t>(layout.axis) >= from.size()) return std::nullopt;
  const auto start = before(from, static_cast<size_t>(layout.axis));
  if (!start) return std::nullopt;
  for (size_t axis = to.size(); axis-- > 0;) {
    const auto there = before(to, axis);
    if (!there) continue;
    const auto times = ratio(*start, *there);
    if (!times) continue;
    if (*times == 1) {
      if (auto same = same_start(layout, to, axis)) return same;
      continue;
    }
    return repeated_start(layout, to, axis, *times);
  }
  return std::nullopt;
}

const Shape* shape_of(const LayoutPass& pass, ValueId value) {
  const auto& shape = pass.graph[value].type.shape;
  return shape ? &*shape : nullptr;
}

std::optional<Layout> viewed(const LayoutPass& pass, const Layout& layout, ValueId from,
                             ValueId to) {
  const Shape* a = shape_of(pass, from);
  const Shape* b = shape_of(pass, to);
  return a && b ? across_view(layout, *a, *b) : std::nullopt;
}

void want_view(LayoutPass& pass, const Node& node) {
  const Layout& out = pass.wanted(node.outputs[0]);
  const auto in = viewed(pass, out, node.outputs[0], node.inputs[0]);
  pass.want(node.inputs[0], in.value_or(Layout{}));
}

// The parts of an input that is split `layout` as the view's result, or nothing can be said of it.
void set_view(LayoutPass& pass, const Node& node) {
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const Layout in = pass.of(x);
  Layout out = in;
  if (is_split(in)) {
    const auto there = viewed(pass, in, x, y);
    if (!there) pass.gather(x);
    out = there.value_or(Layout{});
  }
  pass.set(y, out);
  pass.set_work(node, out);
}

}  // namespace

const LayoutRule* find_view_rule() {
  static constexpr LayoutRule kView{want_view, set_view};
  return &kView;
}

}  // namespace kcharter
