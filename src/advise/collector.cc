#include "advise/collector.h"

#include <algorithm>
#include <utility>

namespace kcharter {
namespace {

// The deepest module that holds all of `nodes`.
ModuleId common_module(const ModuleTree& tree, const std::vector<NodeId>& nodes) {
  const auto path = [&](NodeId node) {
    std::vector<ModuleId> up;
    for (ModuleId at = tree.module_of_node[node.index]; at; at = tree[at].parent) up.push_back(at);
    std::reverse(up.begin(), up.end());
    return up;
  };
  std::vector<ModuleId> common = path(nodes.front());
  for (const NodeId node : nodes) {
    const std::vector<ModuleId> other = path(node);
    const size_t most = std::min(common.size(), other.size());
    size_t same = 0;
    while (same < most && common[same] == other[same]) ++same;
    common.resize(same);
  }
  return common.empty() ? ModuleId(0) : common.back();
}

bool is_scalar(const Graph& graph, ValueId value) {
  const auto& shape = graph[value].type.shape;
  if (!shape) return false;
  return std::all_of(shape->begin(), shape->end(),
                     [](const Dim& dim) { return dim && *dim == Expr(1); });
}

}  // namespace

void Collector::add(const PatternText& pattern, FindingSite site, std::vector<NodeId> nodes,
                    std::string detail, bool counted, int64_t places) {
  if (nodes.empty()) return;
  for (NodeId& node : nodes) node = wiring_.tree.template_of_node[node.index];
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  Key key{&pattern, std::move(nodes), std::move(detail), counted};
  const auto [entry, is_new] = known_.try_emplace(key, static_cast<uint32_t>(findings.size()));
  if (is_new) {
    Finding finding;
    finding.pattern = &pattern;
    finding.detail = key.detail;
    finding.module = common_module(wiring_.tree, key.templates);
    finding.nodes = std::move(key.templates);
    finding.counted = counted;
    findings.push_back(std::move(finding));
  }
  findings[entry->second].sites += places;
  site.finding = entry->second;
  sites.push_back(std::move(site));
}

FindingSite fuse(const Wiring& wiring, std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto is_inside = [&](NodeId node) {
    return node && std::binary_search(nodes.begin(), nodes.end(), node);
  };
  FindingSite site;
  std::vector<ValueId> read;
  for (const NodeId id : nodes) {
    const Node& node = wiring.graph[id];
    Edit edit{id, 0, id != nodes.back(), false};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i]) continue;
      const ValueId root = wiring.root(node.inputs[i]);
      const bool is_constant = wiring.is_constant(node.inputs[i]);
      const bool is_read = std::find(read.begin(), read.end(), root) != read.end();
      if (is_read || is_inside(wiring.maker(root)) ||
          (is_constant && is_scalar(wiring.graph, node.inputs[i]))) {
        edit.operands |= Edit::input(i);
      }
      if (!is_read) read.push_back(root);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i] || wiring.escapes(node.outputs[i])) continue;
      const std::span<const NodeId> readers = wiring.readers(node.outputs[i]);
      if (readers.empty() || !std::all_of(readers.begin(), readers.end(), is_inside)) continue;
      edit.operands |= Edit::output(i);
      site.gone.push_back(wiring.root(node.outputs[i]));
    }
    if (edit.operands != 0 || edit.launch) site.edits.push_back(edit);
  }
  site.kernel = std::move(nodes);
  return site;
}

Edit removal(NodeId node) { return {node, Edit::kAllOperands, true, true}; }

FindingSite remove(const Wiring& wiring, const std::vector<NodeId>& nodes) {
  FindingSite site;
  for (const NodeId node : nodes) {
    site.edits.push_back(removal(node));
    for (const ValueId output : wiring.graph[node].outputs) {
      if (output) site.gone.push_back(wiring.root(output));
    }
  }
  return site;
}

}  // namespace kcharter
