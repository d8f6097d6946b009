// PathTable: module paths as a trie, so that a path is one number and its ancestors are a walk.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kcharter/model/graph.h"

namespace kcharter {

using PathId = uint32_t;
inline constexpr PathId kRootPath = 0;
inline constexpr PathId kNoPath = UINT32_MAX;

class PathTable {
 public:
  // Deeper names are hostile: what lies below is taken for a part of the module at this depth.
  static constexpr uint32_t kMaxDepth = 512;

  struct Entry {
    PathId parent = kNoPath;
    uint32_t depth = 0;
    std::string segment;
    std::string class_name;
    ScopeSource source = ScopeSource::kNone;  // the best that named it
  };

  PathTable();
  size_t size() const { return entries_.size(); }
  const Entry& operator[](PathId id) const { return entries_[id]; }
  Entry& operator[](PathId id) { return entries_[id]; }

  // Adds the child where it is new. `segment` is taken as it is.
  PathId child(PathId parent, std::string_view segment);
  PathId find_child(PathId parent, std::string_view segment) const;  // kNoPath where there is none
  PathId common_ancestor(PathId a, PathId b) const;
  bool contains(PathId ancestor, PathId path) const;
  // The ancestor of `path` (or itself) at `depth`.
  PathId at_depth(PathId path, uint32_t depth) const;
  std::string text(PathId path) const;  // segments joined by '.'; the root is ""

 private:
  struct Key {
    PathId parent;
    std::string_view segment;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()(key.segment) * 31 + key.parent;
    }
  };
  std::deque<Entry> entries_;  // never moves: keys look into it
  std::unordered_map<Key, PathId, KeyHash> index_;
};

// "layers.0" → layers, 0. A segment that is no dotted name ("layer_._11", "a::b.c") stays whole.
std::vector<std::string_view> split_segment(std::string_view segment);

// The path that an exporter's segments mean, relative ({"model", "layers.0"}), cumulative
// ({"model", "model.layers.0"}) or repeating the parent ({"layer2", "layer2.1"}) alike. With `add`
// false nothing is added and the walk ends at the deepest path known; `complete` says if that is
// all.
struct ResolvedPath {
  PathId path = kRootPath;
  bool complete = true;
};
ResolvedPath resolve(PathTable& paths, const std::vector<std::string>& segments, bool add,
                     PathId start = kRootPath);

bool is_index(std::string_view segment);  // decimal digits only, at most 9
// "encoder_layer_11" → "encoder_layer_": what members of a list of modules have in common.
std::string without_digits(std::string_view segment);

}  // namespace kcharter
