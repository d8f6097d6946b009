// Products of one input with several weights, which one product could do.
#include <algorithm>
#include <map>
#include <set>

#include "advise/pattern.h"

namespace kcharter {
namespace {

constexpr size_t kMostSteps = 96;
constexpr size_t kMostOfAttention = 3;  // queries, keys, values

using Group = std::vector<NodeId>;

// Weight products by what they read, of one operator and type; in execution order.
std::vector<Group> groups_of(const Wiring& wiring) {
  std::map<std::pair<ValueId, Operation>, Group> by_input;
  for (const NodeId id : wiring.nodes()) {
    if (!wiring.is_weight_product(id)) continue;
    by_input[{wiring.root(wiring.graph[id].inputs[0]), wiring.operation(id)}].push_back(id);
  }
  std::vector<Group> groups;
  for (auto& [input, group] : by_input) {
    const Node& first = wiring.graph[group.front()];
    std::erase_if(group, [&](NodeId id) {
      const Node& node = wiring.graph[id];
      return node.region != first.region ||
             wiring.graph[node.inputs[0]].type.dtype != wiring.graph[first.inputs[0]].type.dtype ||
             wiring.graph[node.inputs[1]].type.dtype != wiring.graph[first.inputs[1]].type.dtype;
    });
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

// Whether what `product` makes goes into an attention before another weight is multiplied.
bool feeds_attention(const Wiring& wiring, NodeId product) {
  std::vector<NodeId> pending{product};
  std::set<NodeId> seen{product};
  while (!pending.empty() && seen.size() < kMostSteps) {
    const NodeId at = pending.back();
    pending.pop_back();
    for (const ValueId output : wiring.graph[at].outputs) {
      if (!output) continue;
      for (const NodeId reader : wiring.readers(output)) {
        if (wiring.operation(reader) == Operation::kAttention ||
            wiring.is_activation_product(reader)) {
          return true;
        }
        if (wiring.is_weight_product(reader) || !seen.insert(reader).second) continue;
        pending.push_back(reader);
      }
    }
  }
  return false;
}

// Whether `gate`'s result, through an activation, multiplies `up`'s.
bool gates(const Wiring& wiring, NodeId gate, NodeId up) {
  const ValueId other = wiring.root(wiring.graph[up].outputs[0]);
  ValueId at = wiring.graph[gate].outputs[0];
  std::vector<ValueId> pending{at};
  bool is_activated = false;
  for (size_t steps = 0; !pending.empty() && steps < 12; ++steps) {
    at = pending.front();
    pending.erase(pending.begin());
    for (const NodeId reader : wiring.readers(at)) {
      const Operation op = wiring.operation(reader);
      if (!is_elementwise(op)) continue;
      is_activated = is_activated || op == Operation::kSigmoid || op == Operation::kErf ||
                     op == Operation::kTanh || op == Operation::kActivation;
      if (op == Operation::kMul) {
        for (const ValueId input : wiring.graph[reader].inputs) {
          if (input && is_activated && wiring.root(input) == other) return true;
        }
      }
      pending.push_back(wiring.graph[reader].outputs[0]);
    }
  }
  return false;
}

bool is_gate_up(const Wiring& wiring, const Group& group) {
  return group.size() == 2 &&
         (gates(wiring, group[0], group[1]) || gates(wiring, group[1], group[0]));
}

bool is_of_attention(const Wiring& wiring, const Group& group) {
  return group.size() <= kMostOfAttention &&
         std::all_of(group.begin(), group.end(),
                     [&](NodeId id) { return feeds_attention(wiring, id); });
}

void add(const Wiring& wiring, const PatternText& pattern, const Group& group,
         Collector& collector) {
  collector.add(pattern, fuse(wiring, group), group,
                std::to_string(group.size()) + " products of one input");
}

}  // namespace

void find_gate_up(const Wiring& wiring, const PatternText& pattern, Found& found,
                  Collector& collector) {
  std::erase_if(found.products = groups_of(wiring), [&](const Group& group) {
    const bool is_found = is_gate_up(wiring, group);
    if (is_found) add(wiring, pattern, group, collector);
    return is_found;
  });
}

void find_separate_qkv(const Wiring& wiring, const PatternText& pattern, Found& found,
                       Collector& collector) {
  std::erase_if(found.products, [&](const Group& group) {
    const bool is_found = is_of_attention(wiring, group);
    if (is_found) add(wiring, pattern, group, collector);
    return is_found;
  });
}

void find_shared_inputs(const Wiring& wiring, const PatternText& pattern, Found& found,
                        Collector& collector) {
  for (const Group& group : found.products) add(wiring, pattern, group, collector);
}

}  // namespace kcharter
