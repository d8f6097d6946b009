// Which pipeline stage each part of a model is on, from the folded list of layers.
#pragma once

#include <vector>

#include "kcharter/estimate/estimate.h"
#include "kcharter/structure/module_tree.h"

namespace kcharter {

// Layers first + i·period + j for i < repeat, j < run: the places of one folded layer.
struct LayerSpan {
  int64_t first = 0;
  int64_t period = 1;
  int64_t repeat = 1;
  int64_t run = 1;
  int64_t count() const { return repeat * run; }
};

using PlaceId = uint32_t;
inline constexpr PlaceId kFirstStage = 0;  // before the layers
inline constexpr PlaceId kLastStage = 1;   // after them
inline constexpr PlaceId kBothEnds = 2;    // read before and after: each has a copy
inline constexpr PlaceId kFirstSpan = 3;

struct Pipeline {
  int64_t layers = 0;
  std::vector<LayerSpan> spans;    // PlaceId kFirstSpan + index
  std::vector<PlaceId> of_node;    // by NodeId of templates
  std::vector<PlaceId> of_module;  // by ModuleId
  std::vector<ModuleId> lists;     // stages of the list of layers: what they hand on travels

  size_t places() const { return kFirstSpan + spans.size(); }
  // How many of a place's layers (1 of either end) `pipeline_stage` holds, as a formula.
  Expr on_stage(PlaceId place) const;
  // How many there are in all.
  int64_t count(PlaceId place) const;
};

Pipeline find_pipeline(const Graph& graph, const ModuleTree& tree, const Estimate& estimate);

}  // namespace kcharter
