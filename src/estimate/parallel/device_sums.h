// DeviceSums: totals of a model by how they lie over devices, turned into those of one device.
#pragma once

#include <map>
#include <tuple>

#include "estimate/parallel/layout.h"
#include "estimate/parallel/pipeline.h"
#include "kcharter/estimate/quantity.h"
#include "kcharter/estimate/sum.h"

namespace kcharter {

// How a device's part follows from a layout.
enum class Taking : uint8_t {
  kHeld,    // stored there: rounded up to whole units
  kShared,  // computed, moved or alive there: its part of this replica's batch
  kAsIs,    // a device's already
  kMet,     // weights of experts read: met by the batch of all replicas that share the experts
};

class DeviceSums {
 public:
  DeviceSums(const LayoutTable& table, const Pipeline& pipeline)
      : table_(table), pipeline_(pipeline) {}

  void add(Metric metric, LayoutId layout, PlaceId place, Taking taking, const Quantity& total);
  void add_weight(LayoutId layout, PlaceId place, Int bytes, int64_t count);
  // One device's, over the parallel sizes and the stage.
  Metrics take();

 private:
  void add_weights(std::vector<Sum>& sums) const;

  using Key = std::tuple<Metric, LayoutId, PlaceId, Taking>;
  const LayoutTable& table_;
  const Pipeline& pipeline_;
  std::map<Key, Sum> sums_;
  std::map<std::tuple<LayoutId, PlaceId, Int>, int64_t> weights_;
};

// `total` as one data-parallel replica has it: with its part of the batch.
Expr of_replica(const Expr& total);
// As those replicas have it together that one expert group spans.
Expr of_expert_group(const Expr& total);
// Of what all layers of a place have, those on `pipeline_stage`.
Expr on_stage(const Expr& total, const Pipeline& pipeline, PlaceId place);

}  // namespace kcharter
