// RegionModules: the module path that a node's scope gives, with the bodies of If, Loop and Scan
// taken into account (see placement.h).
#pragma once

#include <vector>

#include "kcharter/model/graph.h"
#include "structure/path_table.h"

namespace kcharter {

class RegionModules {
 public:
  RegionModules(const Graph& graph, PathTable& paths);
  // From the root, whatever the region.
  PathId path_of(ScopeId scope) const { return path_of_scope_[scope.index]; }
  // kNoPath: neither its scope nor its region say anything.
  PathId path_of(NodeId node);

 private:
  struct Start {
    PathId module =
        kNoPath;  // the module made for this body or one around it; none: by scopes alone
    PathId owner = kRootPath;  // the owner's own path, which the scopes of its body repeat
  };
  bool needs_module(RegionId region) const;

  const Graph& graph_;
  PathTable& paths_;
  std::vector<Start> starts_;          // by RegionId
  std::vector<bool> has_scopes_;       // by RegionId
  std::vector<PathId> path_of_scope_;  // by ScopeId, from the root
};

}  // namespace kcharter
