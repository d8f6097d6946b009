#include "structure/region_modules.h"

#include <algorithm>
#include <string>

namespace kcharter {
namespace {

std::string_view body_name(RegionKind kind) {
  switch (kind) {
    case RegionKind::kThen:
      return "then";
    case RegionKind::kElse:
      return "else";
    default:
      return "body";
  }
}

// The last part of the owner's name, made unique among what `parent` holds so far.
std::string owner_segment(const PathTable& paths, PathId parent, const Node& owner) {
  std::string name = owner.name.substr(owner.name.rfind('/') + 1);
  std::string base = name.empty() ? owner.op_type : name;
  std::string segment = name.empty() ? base + "_0" : base;
  for (int n = 1; paths.find_child(parent, segment) != kNoPath; ++n) {
    segment = base + "_" + std::to_string(n);
  }
  return segment;
}

}  // namespace

RegionModules::RegionModules(const Graph& graph, PathTable& paths)
    : graph_(graph),
      paths_(paths),
      starts_(graph.regions.size()),
      has_scopes_(graph.regions.size()),
      path_of_scope_(graph.scopes.size(), kRootPath) {
  for (size_t s = 0; s < graph.scopes.size(); ++s) {
    path_of_scope_[s] = resolve(paths, graph.scopes[s].segments, true).path;
  }
  for (const Node& node : graph.nodes) {
    if (node.scope && node.region && path_of_scope_[node.scope.index] != kRootPath) {
      has_scopes_[node.region.index] = true;
    }
  }
  // A body's nodes stand before its owner, so owners met last are outermost.
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& owner = graph.nodes[n];
    if (owner.bodies.empty()) continue;
    PathId at = path_of(NodeId(n));
    if (at == kNoPath) at = kRootPath;
    PathId own = kNoPath;
    for (RegionId body : owner.bodies) {
      Start& start = starts_[body.index];
      start.owner = at;
      if (owner.region) start.module = starts_[owner.region.index].module;
      if (!needs_module(body)) continue;
      if (own == kNoPath) own = paths_.child(at, owner_segment(paths_, at, owner));
      start.module = paths_.child(own, body_name(graph[body].kind));
    }
  }
}

bool RegionModules::needs_module(RegionId region) const {
  if (!has_scopes_[region.index]) return true;
  const Region& body = graph_[region];
  if (body.kind != RegionKind::kThen && body.kind != RegionKind::kElse) return false;
  if (body.runs == RegionRuns::kNo) return true;
  const std::vector<RegionId>& bodies = graph_[body.owner].bodies;
  return std::any_of(bodies.begin(), bodies.end(), [&](RegionId other) {
    return other != region && graph_[other].runs != RegionRuns::kNo;
  });
}

PathId RegionModules::path_of(NodeId id) {
  const Node& node = graph_[id];
  PathId path = node.scope ? path_of_scope_[node.scope.index] : kRootPath;
  Start start = node.region ? starts_[node.region.index] : Start();
  if (start.module == kNoPath) return path == kRootPath ? kNoPath : path;
  // The scope again, but below the body's own module.
  std::vector<PathId> below;
  PathId top = paths_.contains(start.owner, path) ? start.owner : kRootPath;
  for (; path != top; path = paths_[path].parent) below.push_back(path);
  PathId result = start.module;
  for (size_t i = below.size(); i-- > 0;) {
    std::string segment = paths_[below[i]].segment;
    result = paths_.child(result, segment);
  }
  return result;
}

}  // namespace kcharter
