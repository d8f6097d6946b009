// repeats: where a sequence of classes repeats itself: [a b b] [a b b] [a b b] …
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kcharter {

// classes[i] == classes[i + period] for all i from begin to begin + extent - period.
struct Repeat {
  uint32_t begin = 0;
  uint32_t period = 0;
  uint32_t extent = 0;  // at least 2 * period
  uint32_t covered() const { return extent / period * period; }
};

// Those that matter, the ones that cover most first; of equal ones the smaller period, then the
// earlier. Periods tried are the distances between near occurrences of one class, the most telling
// `kMaxPeriods` of them, so that the work is linear in the length.
inline constexpr size_t kMaxPeriods = 192;
std::vector<Repeat> find_repeats(std::span<const uint32_t> classes);
bool covers_more(const Repeat& a, const Repeat& b);

}  // namespace kcharter
