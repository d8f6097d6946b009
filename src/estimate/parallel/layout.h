// Layout: how one value, weight or cache lies over the devices of a tensor or expert group, and
// what one device holds of it.
//
//   [B, S, 8192] split in 64 heads over tp devices: ceil_div(64, tp)/64 of it on each
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "kcharter/symbolic/expr.h"

namespace kcharter {

// `width` elements along an axis that may be cut into `units` equal parts only (a head is not cut).
struct Segment {
  int64_t width = 0;
  int64_t units = 0;
  friend auto operator<=>(const Segment&, const Segment&) = default;
};

enum class LayoutKind : uint8_t {
  kWhole,    // the same on every device
  kSplit,    // a part along `axis` on each
  kPartial,  // of full size on each; their sum is the value
};

// What a unit is: heads of keys and values may be held by several devices, others may not be
// shared.
enum class SplitUnit : uint8_t { kElement, kHead, kKeyValueHead };

struct Layout {
  LayoutKind kind = LayoutKind::kWhole;
  SplitUnit unit = SplitUnit::kElement;
  int32_t axis = 0;
  // More than one where the axis is a concatenation: queries, keys and values of one matrix.
  std::vector<Segment> segments = {};
  // More than 0: weights of so many experts, spread over the expert group; `segments` then say how
  // each is split over the devices that share an expert.
  int64_t experts = 0;
  bool stacked = false;  // one tensor holds all of them
  // Rows of tokens that were sent to experts: spread over the devices that hold them.
  bool routed = false;
  friend auto operator<=>(const Layout&, const Layout&) = default;
};

Layout split(int32_t axis, std::vector<Segment> segments, SplitUnit unit);
inline bool is_split(const Layout& layout) { return layout.kind == LayoutKind::kSplit; }
int64_t width_of(const Layout& layout);

// Equal layouts have equal numbers: a graph has few of them.
using LayoutId = uint32_t;
inline constexpr LayoutId kWholeLayout = 0;

class LayoutTable {
 public:
  LayoutTable() { id_of({}); }
  LayoutId id_of(const Layout& layout);
  const Layout& operator[](LayoutId id) const { return layouts_[id]; }
  size_t size() const { return layouts_.size(); }

 private:
  std::deque<Layout> layouts_;  // grows while rules hold references into it
  std::map<Layout, LayoutId> ids_;
};

// What both can be taken apart into: the coarser of two splits of one axis; whole where there is
// none.
Layout common_split(const Layout& a, const Layout& b);

// Of what lies in `layout` what the device with the most holds, rounded up where units are uneven.
Expr held_by_device(const Expr& total, const Layout& layout);
// Of `count` tensors of `bytes` each, with weights of ceil_div(experts, expert_parallel_size)
// experts.
Expr weights_held(Int bytes, int64_t count, const Layout& layout);
// Of `total` what one device reads in a step of the weights of experts that are met, or computes of
// routed rows: an even share, since routing is taken as balanced.
Expr shared_by_devices(const Expr& total, const Layout& layout);

// total * numerator / denominator, rounded up where that is not a whole number.
Expr part_of(const Expr& total, const Expr& numerator, Int denominator);

}  // namespace kcharter
