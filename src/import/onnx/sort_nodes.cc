#include "import/onnx/sort_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

std::string describe(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  return node.name.empty() ? fmt::format("node {} ({})", id.index, node.op_type)
                           : fmt::format("node '{}' ({})", node.name, node.op_type);
}

// Calls `visit` with every producer that node `id` waits for, and the node in the producer's region
// that has to wait: `id` itself, or the owner of the body that it stands in.
template <typename Visit>
void visit_dependencies(const Graph& graph, NodeId id, const Visit& visit) {
  const auto depend = [&](ValueId value) {
    if (!value || !graph[value].producer) return;
    const NodeId producer = graph[value].producer;
    NodeId waiting = id;
    while (graph[waiting].region != graph[producer].region) {
      waiting = graph[graph[waiting].region].owner;
      if (!waiting) return;
    }
    visit(producer, waiting);
  };
  for (const ValueId input : graph[id].inputs) depend(input);
  for (const RegionId body : graph[id].bodies) {
    for (const ValueId output : graph[body].outputs) {
      if (output && graph[output].region != body) depend(output);
    }
  }
}

bool is_sorted(const Graph& graph) {
  bool sorted = true;
  for (size_t i = 0; i < graph.nodes.size() && sorted; ++i) {
    visit_dependencies(graph, NodeId(i),
                       [&](NodeId producer, NodeId) { sorted = sorted && producer.index < i; });
  }
  return sorted;
}

// Walks backwards from a node that never became ready until one comes again.
[[noreturn]] void fail_with_cycle(const Graph& graph, NodeId start,
                                  const std::vector<uint32_t>& waits) {
  std::vector<NodeId> waits_for(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit_dependencies(graph, NodeId(i), [&](NodeId producer, NodeId waiting) {
      if (waits[producer.index] > 0) waits_for[waiting.index] = producer;
    });
  }
  std::vector<bool> seen(graph.nodes.size(), false);
  NodeId at = start;
  for (; !seen[at.index]; at = waits_for[at.index]) seen[at.index] = true;
  std::string text = describe(graph, at);
  NodeId node = waits_for[at.index];
  for (int shown = 0; node != at && shown < 8; ++shown, node = waits_for[node.index]) {
    text += " reads " + describe(graph, node);
  }
  throw Error(fmt::format("its nodes form a cycle, so none of them can run: {} reads {}{}", text,
                          node == at ? "" : "… ", describe(graph, at)));
}

// The nodes of each region in an order in which they can run; `waits` counts down to 0 for each.
std::vector<std::vector<NodeId>> order_regions(const Graph& graph) {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  std::vector<uint32_t> waits(graph.nodes.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    visit_dependencies(graph, NodeId(i), [&](NodeId producer, NodeId waiting) {
      edges.emplace_back(producer.index, waiting.index);
      waits[waiting.index] += 1;
    });
  }
  std::sort(edges.begin(), edges.end());

  // Ready nodes leave in the order of the file.
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<std::vector<NodeId>> orders(graph.regions.size());
  size_t done = 0;
  while (!ready.empty()) {
    const uint32_t index = ready.top();
    ready.pop();
    done += 1;
    orders[graph.nodes[index].region.index].emplace_back(index);
    auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair(index, uint32_t{0}));
    for (; edge != edges.end() && edge->first == index; ++edge) {
      if (--waits[edge->second] == 0) ready.push(edge->second);
    }
  }
  if (done < graph.nodes.size()) {
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](uint32_t n) { return n > 0; });
    fail_with_cycle(graph, NodeId(static_cast<size_t>(stuck - waits.begin())), waits);
  }
  return orders;
}

// All nodes, the bodies of each before it.
std::vector<NodeId> flatten(const Graph& graph, const std::vector<std::vector<NodeId>>& orders) {
  struct Visit {
    RegionId region;
    size_t next = 0;
    bool bodies_done = false;
  };
  std::vector<NodeId> flat;
  flat.reserve(graph.nodes.size());
  std::vector<Visit> stack = {{RegionId(0)}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const std::vector<NodeId>& order = orders[visit.region.index];
    if (visit.next == order.size()) {
      stack.pop_back();
      continue;
    }
    const NodeId id = order[visit.next];
    const std::vector<RegionId>& bodies = graph[id].bodies;
    if (!bodies.empty() && !visit.bodies_done) {
      visit.bodies_done = true;
      for (size_t i = bodies.size(); i-- > 0;) stack.push_back({bodies[i]});
      continue;
    }
    flat.push_back(id);
    visit.bodies_done = false;
    visit.next += 1;
  }
  return flat;
}

void permute(Graph& graph, const std::vector<NodeId>& order) {
  std::vector<NodeId> moved(graph.nodes.size());
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    moved[order[i].index] = NodeId(i);
    nodes.push_back(std::move(graph[order[i]]));
  }
  graph.nodes = std::move(nodes);
  for (Value& value : graph.values) {
    if (value.producer) value.producer = moved[value.producer.index];
  }
  for (Region& region : graph.regions) {
    if (region.owner) region.owner = moved[region.owner.index];
  }
}

}  // namespace

bool sort_nodes(Graph& graph) {
  if (is_sorted(graph)) return false;
  permute(graph, flatten(graph, order_regions(graph)));
  return true;
}

}  // namespace kcharter
