#include "kcharter/estimate/lifetimes.h"

#include <algorithm>

namespace kcharter {
namespace {

constexpr uint32_t kNever = UINT32_MAX;

RegionId region_of(const Graph& graph, NodeId node) {
  RegionId region = graph[node].region;
  return region ? region : RegionId(0);
}

// A body that may run more than once while its owner runs: every one but the branches of If.
bool repeats(const Region& region) {
  return region.owner && region.kind != RegionKind::kThen && region.kind != RegionKind::kElse;
}

class Finder {
 public:
  Finder(const Graph& graph, const Operands& operands) : graph_(graph), operands_(operands) {}

  Lifetimes find() {
    find_regions_that_run();
    number_steps();
    birth_.assign(graph_.values.size(), kNever);
    death_.assign(graph_.values.size(), 0);
    for (ValueId input : graph_.inputs) bear(input, 0);
    bear_region_inputs();
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (step_of_[i] != kNever) use_operands(NodeId(i));
    }
    end_regions();
    return collect();
  }

 private:
  // Owners stand after the nodes of their bodies: from the back, outer regions come first.
  void find_regions_that_run() {
    runs_.assign(std::max<size_t>(graph_.regions.size(), 1), true);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      for (RegionId body : graph_.nodes[i].bodies) {
        runs_[body.index] =
            runs_[region_of(graph_, NodeId(i)).index] && graph_[body].runs != RegionRuns::kNo;
      }
    }
  }

  void number_steps() {
    step_of_.assign(graph_.nodes.size(), kNever);
    first_step_.assign(runs_.size(), kNever);
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      RegionId region = region_of(graph_, NodeId(i));
      if (!runs_[region.index] || operands_.folded[i]) continue;
      step_of_[i] = static_cast<uint32_t>(result_.steps.size());
      result_.steps.push_back(NodeId(i));
      uint32_t first = step_of_[i];
      for (RegionId body : graph_.nodes[i].bodies) {
        first = std::min(first, first_step_[body.index]);
      }
      first_step_[region.index] = std::min(first_step_[region.index], first);
    }
  }

  uint32_t last_step() const {
    return result_.steps.empty() ? 0 : static_cast<uint32_t>(result_.steps.size()) - 1;
  }

  void bear(ValueId value, uint32_t step) {
    uint32_t memory = operands_.memory_of(value).index;
    birth_[memory] = std::min(birth_[memory], step);
    death_[memory] = std::max(death_[memory], step);
  }

  // The step until which a reader in `reader`'s region needs a value of region `home`.
  uint32_t last_read(uint32_t reader_step, RegionId reader, RegionId home) const {
    uint32_t last = reader_step;
    for (RegionId region = reader; region && region != home && region.index != 0;
         region = graph_[region].parent) {
      NodeId owner = graph_[region].owner;
      if (repeats(graph_[region]) && owner && step_of_[owner.index] != kNever) {
        last = step_of_[owner.index];
      }
    }
    return last;
  }

  void use(ValueId value, uint32_t step, RegionId reader) {
    if (!value || operands_.constant[value.index]) return;
    uint32_t memory = operands_.memory_of(value).index;
    RegionId home = graph_.values[memory].region;
    if (!home) home = RegionId(0);
    death_[memory] = std::max(death_[memory], last_read(step, reader, home));
  }

  void use_operands(NodeId id) {
    const Node& node = graph_[id];
    uint32_t step = step_of_[id.index];
    RegionId region = region_of(graph_, id);
    for (ValueId input : node.inputs) use(input, step, region);
    uint32_t birth = step;
    for (RegionId body : node.bodies) {
      if (repeats(graph_[body])) birth = std::min(birth, first_step_[body.index]);
    }
    for (ValueId output : node.outputs) {
      if (!output) continue;
      bear(output, birth);
      use(output, step, region);
    }
  }

  // The steps of a body end with its owner's.
  template <typename Visit>
  void for_each_body(Visit visit) {
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (step_of_[i] == kNever) continue;
      for (RegionId body : graph_.nodes[i].bodies) {
        if (runs_[body.index]) visit(graph_[body], body, step_of_[i]);
      }
    }
  }

  void bear_region_inputs() {
    for_each_body([&](const Region& region, RegionId id, uint32_t owner_step) {
      for (ValueId input : region.inputs) {
        if (input) bear(input, std::min(first_step_[id.index], owner_step));
      }
    });
  }

  void end_regions() {
    for_each_body([&](const Region& region, RegionId id, uint32_t owner_step) {
      for (ValueId output : region.outputs) use(output, owner_step, id);
    });
    for (ValueId output : graph_.outputs) {
      if (output) use(output, last_step(), RegionId(0));
    }
  }

  Lifetimes collect() {
    std::vector<bool> from_start(graph_.values.size(), false);
    std::vector<bool> to_end(graph_.values.size(), false);
    for (ValueId input : graph_.inputs) from_start[operands_.memory_of(input).index] = true;
    for (ValueId output : graph_.outputs) {
      if (output) to_end[operands_.memory_of(output).index] = true;
    }
    for (uint32_t i = 0; i < graph_.values.size(); ++i) {
      ValueId memory(i);
      if (birth_[i] == kNever || operands_.memory_of(memory) != memory) continue;
      if (operands_.constant[i] || operands_.is_cache(memory)) continue;
      result_.values.push_back({memory, birth_[i], death_[i], from_start[i], to_end[i]});
    }
    return std::move(result_);
  }

  const Graph& graph_;
  const Operands& operands_;
  std::vector<bool> runs_;            // by RegionId
  std::vector<uint32_t> first_step_;  // by RegionId: of its nodes and those below
  std::vector<uint32_t> step_of_;     // by NodeId
  std::vector<uint32_t> birth_;       // by ValueId of a memory
  std::vector<uint32_t> death_;
  Lifetimes result_;
};

}  // namespace

Lifetimes activation_lifetimes(const Graph& graph, const Operands& operands) {
  return Finder(graph, operands).find();
}

}  // namespace kcharter
