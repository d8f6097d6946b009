#include "estimate/pack_lifetimes.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace kcharter {
namespace {

// Gaps below the highest byte used so far, found by place and by size.
class Memory {
 public:
  Int place(Int size) {
    if (size == 0) return 0;
    auto fitting = by_size_.lower_bound({size, 0});
    if (fitting != by_size_.end()) {
      auto [gap, start] = *fitting;
      remove(start, gap);
      if (gap > size) add(start + size, gap - size);
      return start;
    }
    // A gap at the top grows.
    Int start = top_;
    if (!by_place_.empty()) {
      auto [last, gap] = *by_place_.rbegin();
      if (last + gap == top_) {
        start = last;
        remove(last, gap);
      }
    }
    top_ = checked_add(start, size);
    return start;
  }

  void release(Int start, Int size) {
    if (size == 0) return;
    auto after = by_place_.lower_bound(start);
    if (after != by_place_.end() && after->first == start + size) {
      auto [next, gap] = *after;
      remove(next, gap);
      size += gap;
    }
    auto before = by_place_.lower_bound(start);
    if (before != by_place_.begin()) {
      auto [previous, gap] = *std::prev(before);
      if (previous + gap == start) {
        remove(previous, gap);
        start = previous;
        size += gap;
      }
    }
    add(start, size);
  }

  Int top() const { return top_; }

 private:
  void add(Int start, Int size) {
    by_place_.emplace(start, size);
    by_size_.emplace(size, start);
  }
  void remove(Int start, Int size) {
    by_place_.erase(start);
    by_size_.erase({size, start});
  }

  std::map<Int, Int> by_place_;
  std::set<std::pair<Int, Int>> by_size_;
  Int top_ = 0;
};

// nullopt: some size is not known.
std::optional<std::vector<Int>> sizes_of(const Graph& graph, const Lifetimes& lifetimes,
                                         const Bindings& values) {
  std::unordered_map<Expr, Int> known;
  std::vector<Int> sizes;
  for (const Lifetime& lifetime : lifetimes.values) {
    std::optional<Expr> bytes = byte_size(graph[lifetime.memory].type);
    if (!bytes) return std::nullopt;
    auto [found, added] = known.emplace(*bytes, 0);
    if (added) found->second = bytes->evaluate(values);
    if (found->second < 0) return std::nullopt;
    sizes.push_back(found->second);
  }
  return sizes;
}

}  // namespace

std::optional<Int> packed_bytes(const Graph& graph, const Lifetimes& lifetimes,
                                const Bindings& values) {
  try {
    std::optional<std::vector<Int>> sizes = sizes_of(graph, lifetimes, values);
    if (!sizes) return std::nullopt;
    size_t steps = std::max<size_t>(lifetimes.steps.size(), 1);
    std::vector<std::vector<uint32_t>> born(steps), dying(steps);
    for (uint32_t i = 0; i < lifetimes.values.size(); ++i) {
      born[lifetimes.values[i].birth].push_back(i);
      dying[lifetimes.values[i].death].push_back(i);
    }
    Memory memory;
    std::vector<Int> place(lifetimes.values.size(), 0);
    for (size_t step = 0; step < steps; ++step) {
      std::stable_sort(born[step].begin(), born[step].end(),
                       [&](uint32_t a, uint32_t b) { return (*sizes)[a] > (*sizes)[b]; });
      for (uint32_t i : born[step]) place[i] = memory.place((*sizes)[i]);
      for (uint32_t i : dying[step]) memory.release(place[i], (*sizes)[i]);
    }
    return memory.top();
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

}  // namespace kcharter
