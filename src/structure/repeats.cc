#include "structure/repeats.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace kcharter {
namespace {

// Occurrences of a class this many apart still tell a period: a period may hold a class often.
constexpr size_t kNear = 8;

// Distance → items that such steps span, largest first.
std::vector<uint32_t> telling_periods(std::span<const uint32_t> classes) {
  std::unordered_map<uint32_t, std::vector<uint32_t>> last;  // by class: its latest positions
  std::unordered_map<uint32_t, uint64_t> weight;
  for (uint32_t i = 0; i < classes.size(); ++i) {
    std::vector<uint32_t>& positions = last[classes[i]];
    for (uint32_t position : positions) weight[i - position] += i - position;
    if (positions.size() == kNear) positions.erase(positions.begin());
    positions.push_back(i);
  }
  std::vector<std::pair<uint64_t, uint32_t>> ranked;
  for (auto [period, span] : weight) ranked.emplace_back(span, period);
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.first, a.second) < std::tuple(a.first, b.second);
  });
  if (ranked.size() > kMaxPeriods) ranked.resize(kMaxPeriods);
  std::vector<uint32_t> periods;
  for (auto [span, period] : ranked) periods.push_back(period);
  return periods;
}

}  // namespace

bool covers_more(const Repeat& a, const Repeat& b) {
  return std::tuple(b.covered(), a.period, a.begin) < std::tuple(a.covered(), b.period, b.begin);
}

std::vector<Repeat> find_repeats(std::span<const uint32_t> classes) {
  auto size = static_cast<uint32_t>(classes.size());
  std::vector<Repeat> repeats;
  for (uint32_t period : telling_periods(classes)) {
    if (period * 2 > size) continue;
    uint32_t begin = 0;
    for (uint32_t i = 0; i + period <= size; ++i) {
      if (i + period < size && classes[i] == classes[i + period]) continue;
      if (i - begin >= period) repeats.push_back({begin, period, i - begin + period});
      begin = i + 1;
    }
  }
  std::sort(repeats.begin(), repeats.end(), covers_more);
  return repeats;
}

}  // namespace kcharter
