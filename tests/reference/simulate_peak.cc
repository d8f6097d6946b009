#include "reference/simulate_peak.h"

#include <algorithm>
#include <map>
#include <set>

#include "kcharter/ops/operator.h"

namespace kcharter::reference {
namespace {

// Every name of one memory, and what is known of its life.
struct Memory {
  int birth = -1;
  int death = -1;
  bool counted = true;
  Int bytes = 0;
};

class Simulation {
 public:
  Simulation(const Model& model, const Bindings& values) : graph_(model.graph), values_(values) {}

  std::optional<Int> run() {
    find_constants();
    order_steps();
    find_memories();
    live();
    if (!weigh()) return std::nullopt;
    Int peak = 0;
    for (int step = 0; step < std::max<int>(1, steps_.size()); ++step) {
      Int sum = 0;
      for (const auto& [root, memory] : memories_) {
        if (is_alive(memory) && memory.birth <= step && step <= memory.death) sum += memory.bytes;
      }
      peak = std::max(peak, sum);
    }
    return peak;
  }

 private:
  static bool is_alive(const Memory& memory) { return memory.counted && memory.birth >= 0; }

  bool weigh() {
    for (auto& [root, memory] : memories_) {
      if (!is_alive(memory)) continue;
      auto bytes = byte_size(graph_.values[root].type);
      if (!bytes) return false;
      memory.bytes = bytes->evaluate(values_);
    }
    return true;
  }

  void find_constants() {
    constant_.resize(graph_.values.size());
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      constant_[i] = bool(graph_.values[i].initializer);
    }
    for (const Node& node : graph_.nodes) {
      const OperatorInfo* info = find_operator(node.domain, node.op_type);
      bool folded = info && !info->is_random && node.bodies.empty();
      for (ValueId input : node.inputs) folded = folded && (!input || constant_[input.index]);
      folded_.push_back(folded);
      for (ValueId output : node.outputs) {
        if (output && folded) constant_[output.index] = true;
      }
    }
  }

  bool region_runs(RegionId region) const {
    while (region && region.index != 0) {
      if (graph_[region].runs == RegionRuns::kNo) return false;
      region = graph_[graph_[region].owner].region;
    }
    return true;
  }

  void order_steps() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      bool runs = !folded_[i] && region_runs(graph_.nodes[i].region);
      step_of_.push_back(runs ? int(steps_.size()) : -1);
      if (runs) steps_.push_back(i);
    }
  }

  uint32_t root(uint32_t value) const {
    while (same_as_.contains(value)) value = same_as_.at(value);
    return value;
  }

  void find_memories() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const OperatorInfo* info = find_operator(node.domain, node.op_type);
      if (info && info->is_view && !folded_[i] && !node.inputs.empty() && node.inputs[0] &&
          !constant_[node.inputs[0].index] && !node.outputs.empty() && node.outputs[0]) {
        same_as_[node.outputs[0].index] = node.inputs[0].index;
      }
      if (node.op_type != "If") continue;
      for (RegionId body : node.bodies) {
        if (graph_[body].runs == RegionRuns::kNo) continue;
        for (size_t k = 0; k < std::min(graph_[body].outputs.size(), node.outputs.size()); ++k) {
          ValueId inner = graph_[body].outputs[k];
          if (!node.outputs[k] || !inner || constant_[inner.index]) continue;
          if (!same_as_.contains(node.outputs[k].index)) {
            same_as_[node.outputs[k].index] = inner.index;
          }
        }
      }
    }
    for (const Cache& cache : graph_.caches) {
      for (ValueId value : {cache.input, cache.output}) {
        if (value) memories_[root(value.index)].counted = false;
      }
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (constant_[i]) memories_[i].counted = false;
    }
  }

  void born(ValueId value, int step) {
    if (!value) return;
    Memory& memory = memories_[root(value.index)];
    memory.birth = memory.birth < 0 ? step : std::min(memory.birth, step);
    memory.death = std::max(memory.death, step);
  }

  void used(ValueId value, int step, RegionId reader) {
    if (!value) return;
    uint32_t at = root(value.index);
    RegionId home = graph_.values[at].region ? graph_.values[at].region : RegionId(0);
    for (RegionId r = reader; r && r.index != 0 && r != home; r = graph_[r].parent) {
      bool loops = graph_[graph_[r].owner].op_type != "If";
      if (loops) step = std::max(step, step_of_[graph_[r].owner.index]);
    }
    memories_[at].death = std::max(memories_[at].death, step);
  }

  bool inside(RegionId region, RegionId outer) const {
    for (; region && region.index != 0; region = graph_[region].parent) {
      if (region == outer) return true;
    }
    return false;
  }

  int first_step_in(RegionId region, int fallback) const {
    for (size_t step = 0; step < steps_.size(); ++step) {
      if (inside(graph_.nodes[steps_[step]].region, region)) return std::min<int>(step, fallback);
    }
    return fallback;
  }

  void live() {
    for (ValueId input : graph_.inputs) born(input, 0);
    for (size_t step = 0; step < steps_.size(); ++step) {
      const Node& node = graph_.nodes[steps_[step]];
      int birth = int(step);
      for (RegionId body : node.bodies) {
        if (graph_[body].runs == RegionRuns::kNo) continue;
        int first = first_step_in(body, int(step));
        for (ValueId input : graph_[body].inputs) born(input, first);
        for (ValueId output : graph_[body].outputs) used(output, int(step), body);
        if (node.op_type != "If") birth = std::min(birth, first);
      }
      for (ValueId input : node.inputs) used(input, int(step), node.region);
      for (ValueId output : node.outputs) {
        born(output, birth);
        used(output, int(step), node.region);
      }
    }
    for (ValueId output : graph_.outputs) used(output, std::max<int>(0, steps_.size() - 1), {});
  }

  const Graph& graph_;
  const Bindings& values_;
  std::vector<bool> constant_;
  std::vector<bool> folded_;
  std::vector<size_t> steps_;  // nodes that run
  std::vector<int> step_of_;   // by node; -1: does not run
  std::map<uint32_t, uint32_t> same_as_;
  std::map<uint32_t, Memory> memories_;
};

}  // namespace

std::optional<Int> simulate_peak(const Model& model, const Bindings& values) {
  return Simulation(model, values).run();
}

}  // namespace kcharter::reference
