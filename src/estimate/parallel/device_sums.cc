#include "estimate/parallel/device_sums.h"

#include <string>

#include "kcharter/estimate/parallel.h"
#include "kcharter/model/model.h"

namespace kcharter {
namespace {

Expr with_batch(const Expr& total, const Expr& batch) {
  return total.substitute({{std::string(kBatchSize), batch}});
}

Expr replica_batch(const Expr& replicas) {
  return ceil_div(Expr::variable(kBatchSize) * replicas, Expr::variable(kDataParallelSize));
}

Expr taken(const Expr& total, const Layout& layout, Taking taking) {
  switch (taking) {
    case Taking::kHeld:
      return held_by_device(of_replica(total), layout);
    case Taking::kShared:
      return shared_by_devices(of_replica(total), layout);
    case Taking::kAsIs:
      return total;
    case Taking::kMet:
      return shared_by_devices(of_expert_group(total), layout);
  }
  return total;
}

}  // namespace

Expr of_replica(const Expr& total) { return with_batch(total, replica_batch(Expr(1))); }

Expr of_expert_group(const Expr& total) {
  const Expr replicas = max(
      Expr(1), floor_div(Expr::variable(kExpertParallelSize), Expr::variable(kTensorParallelSize)));
  return with_batch(total, replica_batch(replicas));
}

Expr on_stage(const Expr& total, const Pipeline& pipeline, PlaceId place) {
  return part_of(total, pipeline.on_stage(place), pipeline.count(place));
}

void DeviceSums::add(Metric metric, LayoutId layout, PlaceId place, Taking taking,
                     const Quantity& total) {
  sums_[{metric, layout, place, taking}].add(total);
}

void DeviceSums::add_weight(LayoutId layout, PlaceId place, Int bytes, int64_t count) {
  weights_[{layout, place, bytes}] += count;
}

void DeviceSums::add_weights(std::vector<Sum>& sums) const {
  for (const auto& [key, count] : weights_) {
    const auto& [layout, place, bytes] = key;
    const Expr held = weights_held(bytes, count, table_[layout]);
    sums[static_cast<size_t>(Metric::kWeightBytes)].add(
        {on_stage(held, pipeline_, place), Exactness::kExact, Source::kRule});
  }
}

Metrics DeviceSums::take() {
  std::vector<Sum> sums(kMetricCount);
  add_weights(sums);
  for (const auto& [key, sum] : sums_) {
    const auto& [metric, layout, place, taking] = key;
    Quantity total = sum.total();
    const Layout& lies = table_[layout];
    if (total.formula) {
      total.formula = on_stage(taken(*total.formula, lies, taking), pipeline_, place);
    }
    if (lies.routed && total.formula) {
      total.exactness = std::max(total.exactness, Exactness::kEstimated);
    }
    sums[static_cast<size_t>(metric)].add(total);
  }
  Metrics metrics;
  for (size_t i = 0; i < kMetricCount; ++i) metrics.all[i] = sums[i].total();
  return metrics;
}

}  // namespace kcharter
