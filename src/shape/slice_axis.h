// slice_axis: how long an axis is after Slice, as a formula.
#pragma once

#include "shape/inference.h"

namespace kcharter {

// `limit_assumed` is set where an end beyond a stored table was taken to lie within it: the model
// only works up to that length.
struct SlicedAxis {
  Dim length;
  Dim start;  // where the first kept element stands; nullopt: unknown
  bool limit_assumed = false;
};

// `size` of the axis, start, end and step as ONNX means them (negative: from the end; clamped).
// `is_table`: the data is a stored tensor, which a graph does not index past its end.
SlicedAxis slice_axis(const Dim& size, const MaybeElement& start, const MaybeElement& end,
                      int64_t step, bool is_table, const Bounds& bounds);

}  // namespace kcharter
