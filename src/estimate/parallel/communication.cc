#include "estimate/parallel/communication.h"

#include <array>
#include <map>
#include <utility>

#include "estimate/parallel/device_sums.h"
#include "estimate/runs.h"

namespace kcharter {
namespace {

Expr tensor() { return Expr::variable(kTensorParallelSize); }
Expr experts() { return Expr::variable(kExpertParallelSize); }

// 1 where `count` is more than 0.
Expr any(const Expr& count) { return min(Expr(1), max(Expr(0), count)); }

// What one device sends of `total` bytes.
Expr sent(Collective operation, const Expr& total) {
  const Expr others = tensor() - 1;
  switch (operation) {
    case Collective::kAllReduce:
      return ceil_div(2 * others * total, tensor());
    case Collective::kAllGather:
      return ceil_div(others * total, tensor());
    case Collective::kAllToAll:
      // The devices of a tensor group have the same tokens: each sends its share of them.
      return any(experts() - tensor()) * ceil_div((experts() - 1) * total, tensor() * experts());
    case Collective::kPointToPoint:
      return total;
  }
  return total;
}

Expr happens(Collective operation) {
  return operation == Collective::kAllToAll ? any(experts() - tensor()) : any(tensor() - 1);
}

struct Total {
  Sum bytes, calls;
};

Quantity changed(Quantity quantity, const auto& change) {
  try {
    if (quantity.formula) quantity.formula = change(*quantity.formula);
    return quantity;
  } catch (const ArithmeticError&) {
    return unknown_quantity();
  }
}

// What a layer hands to the next goes from stage to stage.
Communication between_stages(const Graph& graph, const ModuleTree& tree, const Pipeline& pipeline) {
  const Expr is_sender =
      any(Expr::variable(kPipelineParallelSize) - 1 - Expr::variable(kPipelineStage));
  Communication result{Collective::kPointToPoint, {}, {}};
  for (const ModuleId list : pipeline.lists) {
    Sum bytes;
    int64_t values = 0;
    for (const CarriedValue& carried : tree[list].carried) {
      Quantity size = unknown_quantity();
      try {
        if (const auto known = byte_size(graph[carried.produced].type)) {
          size = {*known, Exactness::kExact, Source::kGraph};
        }
      } catch (const ArithmeticError&) {
        // Too large to be written down.
      }
      bytes.add(size);
      ++values;
    }
    if (values == 0) continue;
    result.bytes = changed(bytes.total(), [&](const Expr& e) { return of_replica(e) * is_sender; });
    result.calls = {is_sender * values, Exactness::kExact, Source::kRule};
    return result;
  }
  return result;
}

}  // namespace

std::string_view name(Collective operation) {
  constexpr std::array<std::string_view, 4> kNames = {"all_reduce", "all_gather", "all_to_all",
                                                      "point_to_point"};
  return kNames[static_cast<size_t>(operation)];
}

std::vector<Communication> find_communication(const Graph& graph, const ModuleTree& tree,
                                              const Layouts& layouts, const Pipeline& pipeline,
                                              const std::vector<Quantity>& runs) {
  std::map<std::pair<Collective, PlaceId>, Total> totals;
  for (const Transfer& transfer : layouts.transfers) {
    if (tree.template_of_node[transfer.node.index] != transfer.node) continue;
    const Quantity& times = runs[transfer.node.index];
    Total& total = totals[{transfer.operation, pipeline.of_node[transfer.node.index]}];
    total.bytes.add(repeated(transfer.bytes
                                 ? Quantity{*transfer.bytes, Exactness::kExact, Source::kGraph}
                                 : unknown_quantity(),
                             times));
    total.calls.add(times);
  }
  std::vector<Communication> result;
  for (const Collective operation :
       {Collective::kAllReduce, Collective::kAllGather, Collective::kAllToAll}) {
    Communication all{operation, {}, {}};
    for (const auto& [key, total] : totals) {
      if (key.first != operation) continue;
      const auto here = [&](const Expr& e) { return on_stage(e, pipeline, key.second); };
      all.bytes = all.bytes + changed(total.bytes.total(), [&](const Expr& e) {
                    return sent(operation, here(of_replica(e)));
                  });
      all.calls = all.calls + changed(total.calls.total(),
                                      [&](const Expr& e) { return here(e) * happens(operation); });
    }
    result.push_back(std::move(all));
  }
  result.push_back(between_stages(graph, tree, pipeline));
  return result;
}

std::optional<double> communication_seconds(const ParallelEstimate& parallel,
                                            const Bindings& values, const Device& device) {
  if (!device.link_bytes_per_second || *device.link_bytes_per_second <= 0) return std::nullopt;
  double seconds = 0;
  for (const Communication& sent : parallel.communication) {
    if (!sent.bytes.formula) return std::nullopt;
    try {
      seconds +=
          static_cast<double>(sent.bytes.formula->evaluate(values)) / *device.link_bytes_per_second;
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }
  return seconds;
}

}  // namespace kcharter
