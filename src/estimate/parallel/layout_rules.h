// How each operator splits over a tensor or expert group. What has no rule is whole on each device.
#pragma once

#include <string_view>

#include "estimate/parallel/layout_pass.h"

namespace kcharter {

struct LayoutRule {
  // In which layout it can take its inputs, as its outputs are wanted; all whole where null.
  void (*want)(LayoutPass& pass, const Node& node) = nullptr;
  // How its outputs lie, as its inputs do.
  void (*set)(LayoutPass& pass, const Node& node) = nullptr;
};

// nullptr: none.
const LayoutRule* find_layout_rule(const Node& node);

// By family, one a file.
const LayoutRule* find_matrix_rule(const Node& node);
// Rows of a constant table.
const LayoutRule* find_lookup_rule();
// Reshape and what else changes the shape only.
const LayoutRule* find_view_rule();
const LayoutRule* find_movement_rule(const Node& node);
const LayoutRule* find_attention_rule(const Node& node);
const LayoutRule* find_expert_rule(const Node& node);

// A layout along the last axis of `value`.
Layout split_last(const LayoutPass& pass, ValueId value, std::vector<Segment> segments,
                  SplitUnit unit);
// Split along the last axis of `value`.
bool is_split_last(const LayoutPass& pass, ValueId value, const Layout& layout);
// The value's parts stay where they are, under another axis.
Layout with_axis(Layout layout, int32_t axis);

}  // namespace kcharter
