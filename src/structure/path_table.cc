#include "structure/path_table.h"

#include <algorithm>

namespace kcharter {

PathTable::PathTable() { entries_.emplace_back(); }

PathId PathTable::find_child(PathId parent, std::string_view segment) const {
  auto found = index_.find(Key{parent, segment});
  return found == index_.end() ? kNoPath : found->second;
}

PathId PathTable::child(PathId parent, std::string_view segment) {
  if (PathId known = find_child(parent, segment); known != kNoPath) return known;
  if (entries_[parent].depth >= kMaxDepth) return parent;
  auto id = static_cast<PathId>(entries_.size());
  Entry& entry = entries_.emplace_back();
  entry.parent = parent;
  entry.depth = entries_[parent].depth + 1;
  entry.segment = segment;
  index_.emplace(Key{parent, entry.segment}, id);
  return id;
}

PathId PathTable::at_depth(PathId path, uint32_t depth) const {
  while (entries_[path].depth > depth) path = entries_[path].parent;
  return path;
}

PathId PathTable::common_ancestor(PathId a, PathId b) const {
  uint32_t depth = std::min(entries_[a].depth, entries_[b].depth);
  a = at_depth(a, depth);
  b = at_depth(b, depth);
  while (a != b) {
    a = entries_[a].parent;
    b = entries_[b].parent;
  }
  return a;
}

bool PathTable::contains(PathId ancestor, PathId path) const {
  return at_depth(path, entries_[ancestor].depth) == ancestor;
}

std::string PathTable::text(PathId path) const {
  std::vector<std::string_view> segments;
  for (; path != kRootPath; path = entries_[path].parent)
    segments.push_back(entries_[path].segment);
  std::string text;
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (!text.empty()) text += '.';
    text += *segment;
  }
  return text;
}

bool is_index(std::string_view segment) {
  return !segment.empty() && segment.size() <= 9 &&
         std::all_of(segment.begin(), segment.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string without_digits(std::string_view segment) {
  std::string rest(segment);
  std::erase_if(rest, [](char c) { return c >= '0' && c <= '9'; });
  return rest;
}

std::vector<std::string_view> split_segment(std::string_view segment) {
  std::vector<std::string_view> pieces;
  if (segment.find("::") == std::string_view::npos) {
    for (size_t begin = 0; begin <= segment.size();) {
      size_t end = std::min(segment.find('.', begin), segment.size());
      pieces.push_back(segment.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  bool dotted = pieces.size() > 1;
  for (size_t i = 0; dotted && i < pieces.size(); ++i) {
    bool joined = i > 0 && pieces[i].starts_with('_') && pieces[i - 1].ends_with('_');
    dotted = !pieces[i].empty() && !joined;
  }
  if (!dotted) return {segment};
  return pieces;
}

namespace {

// What `segment` adds to the path so far: its own part without the parent's name before it.
std::string_view without_parent(std::string_view segment, const std::string& path_so_far,
                                std::string_view previous) {
  for (std::string_view prefix : {std::string_view(path_so_far), previous}) {
    if (prefix.empty() || !segment.starts_with(prefix)) continue;
    if (segment.size() > prefix.size() + 1 && segment[prefix.size()] == '.') {
      return segment.substr(prefix.size() + 1);
    }
  }
  return segment;
}

}  // namespace

ResolvedPath resolve(PathTable& paths, const std::vector<std::string>& segments, bool add,
                     PathId start) {
  ResolvedPath result{start, true};
  std::string so_far = paths.text(start);
  std::string_view previous;
  for (const std::string& segment : segments) {
    if (segment.empty()) continue;
    for (std::string_view piece : split_segment(without_parent(segment, so_far, previous))) {
      PathId next = add ? paths.child(result.path, piece) : paths.find_child(result.path, piece);
      if (next == kNoPath) return {result.path, false};
      if (next == result.path) return result;  // too deep
      result.path = next;
      if (!so_far.empty()) so_far += '.';
      so_far += piece;
    }
    previous = segment;
  }
  return result;
}

}  // namespace kcharter
