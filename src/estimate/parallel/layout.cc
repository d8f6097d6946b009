#include "estimate/parallel/layout.h"

#include <algorithm>
#include <numeric>

#include "kcharter/estimate/parallel.h"

namespace kcharter {
namespace {

// A graph made to have a different one for every value must not use unbounded memory.
constexpr size_t kMostLayouts = 4096;

// Devices that share one matrix: the tensor group, or what the expert group leaves of it.
Expr ways_of(const Layout& layout) {
  const Expr tensor = Expr::variable(kTensorParallelSize);
  if (layout.experts == 0 && !layout.routed) return tensor;
  return max(Expr(1), floor_div(tensor, Expr::variable(kExpertParallelSize)));
}

// Elements of the axis that one device holds.
Expr held_width(const Layout& layout) {
  const Expr ways = ways_of(layout);
  Expr width;
  for (const Segment& segment : layout.segments) {
    width += Expr(segment.width / segment.units) * ceil_div(Expr(segment.units), ways);
  }
  return width;
}

bool divides_all(const Expr& total, Int denominator) {
  const auto terms = total.terms();
  return std::all_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return term.first % denominator == 0; });
}

Expr quotient(const Expr& total, Int denominator) {
  Expr result;
  for (const auto& [coefficient, monomial] : total.terms()) {
    result += Expr(coefficient / denominator) * monomial;
  }
  return result;
}

Expr along_axis(const Expr& total, const Layout& layout) {
  if (layout.kind != LayoutKind::kSplit) return total;
  return part_of(total, held_width(layout), width_of(layout));
}

}  // namespace

Layout split(int32_t axis, std::vector<Segment> segments, SplitUnit unit) {
  return {.kind = LayoutKind::kSplit, .unit = unit, .axis = axis, .segments = std::move(segments)};
}

int64_t width_of(const Layout& layout) {
  int64_t width = 0;
  for (const Segment& segment : layout.segments) width += segment.width;
  return width;
}

LayoutId LayoutTable::id_of(const Layout& layout) {
  const auto found = ids_.find(layout);
  if (found != ids_.end()) return found->second;
  if (layouts_.size() >= kMostLayouts) return kWholeLayout;
  layouts_.push_back(layout);
  return ids_[layout] = static_cast<LayoutId>(layouts_.size() - 1);
}

Layout common_split(const Layout& a, const Layout& b) {
  if (a == b) return a;
  if (a.kind != LayoutKind::kSplit || b.kind != LayoutKind::kSplit || a.axis != b.axis ||
      a.routed != b.routed || a.segments.size() != b.segments.size()) {
    return {};
  }
  Layout common = a;
  common.unit = std::max(a.unit, b.unit);
  for (size_t i = 0; i < a.segments.size(); ++i) {
    if (a.segments[i].width != b.segments[i].width) return {};
    common.segments[i].units = std::gcd(a.segments[i].units, b.segments[i].units);
  }
  return common;
}

Expr part_of(const Expr& total, const Expr& numerator, Int denominator) {
  // Of the coefficients of the numerator what divides the denominator too.
  Int common = denominator;
  for (const auto& [coefficient, monomial] : numerator.terms()) {
    common = std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(coefficient));
  }
  const Expr reduced = quotient(numerator, common);
  denominator /= common;
  if (divides_all(total, denominator)) return quotient(total, denominator) * reduced;
  return ceil_div(total * reduced, Expr(denominator));
}

Expr held_by_device(const Expr& total, const Layout& layout) { return along_axis(total, layout); }

Expr weights_held(Int bytes, int64_t count, const Layout& layout) {
  if (layout.experts == 0) return along_axis(Expr(bytes), layout) * count;
  const Expr experts = ceil_div(Expr(layout.experts), Expr::variable(kExpertParallelSize));
  if (!layout.stacked)
    return part_of(along_axis(Expr(bytes), layout) * count, experts, layout.experts);
  if (bytes % layout.experts == 0) {
    return along_axis(Expr(bytes / layout.experts), layout) * experts * count;
  }
  return part_of(along_axis(Expr(bytes), layout), experts, layout.experts) * count;
}

Expr shared_by_devices(const Expr& total, const Layout& layout) {
  const Expr experts = Expr::variable(kExpertParallelSize);
  Expr held = along_axis(total, layout);
  if (layout.experts > 0) return ceil_div(held, experts);
  if (!layout.routed) return held;
  // The group's tokens are those of expert/tensor replicas, spread over `experts` devices.
  return ceil_div(held, min(experts, Expr::variable(kTensorParallelSize)));
}

}  // namespace kcharter
