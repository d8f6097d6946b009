// Constants that are stored twice, and constants that are computed.
#include <map>

#include "advise/pattern.h"
#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

// Smaller ones are scalars, of which every graph has many.
constexpr uint64_t kLeastBytes = 1024;

bool is_free(const Node& node) {
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  return info == nullptr || info->is_view || info->is_shape_arithmetic;
}

Quantity bytes_of(const Graph& graph, ValueId value) {
  const std::optional<Expr> bytes = byte_size(graph[value].type);
  if (!bytes) return unknown_quantity();
  return {*bytes, Exactness::kExact, Source::kGraph};
}

}  // namespace

void find_duplicate_constants(const Wiring& wiring, const PatternText& pattern, Found&,
                              Collector& collector) {
  const Graph& graph = wiring.graph;
  for (const Initializer& constant : graph.initializers) {
    if (!constant.value || constant.alias_of || constant.stored_bytes < kLeastBytes) continue;
    const ValueId first = wiring.root(constant.value);
    if (first == constant.value) continue;
    FindingSite site;
    site.less.push_back(
        {Metric::kWeightBytes, {Expr(constant.stored_bytes), Exactness::kExact, Source::kTensor}});
    std::vector<NodeId> readers;
    for (const NodeId reader : wiring.readers(first)) readers.push_back(reader);
    if (readers.empty()) readers = {NodeId(size_t{0})};
    readers.resize(1);
    collector.add(pattern, std::move(site), std::move(readers), constant.name);
  }
}

void find_constant_subgraphs(const Wiring& wiring, const PatternText& pattern, Found&,
                             Collector& collector) {
  const Graph& graph = wiring.graph;
  std::map<ModuleId, std::vector<NodeId>> by_module;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Operation op = wiring.operation(NodeId(i));
    // What stands before a weight operand has patterns of its own.
    const bool is_weight =
        op == Operation::kTranspose || op == Operation::kCast || op == Operation::kDequantize;
    if (!wiring.is_folded(NodeId(i)) || is_weight || is_free(node) || node.inputs.empty() ||
        node.outputs.empty() || !node.outputs[0] || graph[node.outputs[0]].elements != nullptr) {
      continue;
    }
    by_module[wiring.tree.module_of_node[i]].push_back(NodeId(i));
  }
  for (const auto& [module, nodes] : by_module) {
    const bool is_counted = wiring.is_seen(nodes.front());
    FindingSite site;
    if (is_counted) {
      site = remove(wiring, nodes);
    } else {
      for (const NodeId id : nodes) {
        for (const ValueId input : graph[id].inputs) {
          if (input) site.less.push_back({Metric::kActivationReadBytes, bytes_of(graph, input)});
        }
        site.less.push_back({Metric::kActivationWriteBytes, bytes_of(graph, graph[id].outputs[0])});
        ++site.launches;
      }
    }
    collector.add(pattern, std::move(site), nodes, "", is_counted,
                  static_cast<int64_t>(nodes.size()));
  }
}

}  // namespace kcharter
