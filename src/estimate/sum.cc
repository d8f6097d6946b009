#include "kcharter/estimate/sum.h"

#include <algorithm>
#include <vector>

namespace kcharter {

void Sum::add(const Quantity& quantity, Int times) {
  if (times == 0) return;
  if (!quantity.formula) {
    has_unknown_ = true;
    return;
  }
  if (quantity.formula->is_zero() && quantity.exactness == Exactness::kExact) return;
  has_known_ = true;
  exactness_ = std::max(exactness_, quantity.exactness);
  source_ = std::max(source_, quantity.source);
  counts_[*quantity.formula] += times;
}

void Sum::add(const Sum& other) {
  for (const auto& [formula, count] : other.counts_) counts_[formula] += count;
  exactness_ = std::max(exactness_, other.exactness_);
  source_ = std::max(source_, other.source_);
  has_unknown_ = has_unknown_ || other.has_unknown_;
  has_known_ = has_known_ || other.has_known_;
}

Quantity Sum::total() const {
  if (!has_known_) return has_unknown_ ? unknown_quantity() : Quantity{};
  // The hash's order must not reach the result where an overflow depends on it.
  std::vector<std::pair<Expr, Int>> parts(counts_.begin(), counts_.end());
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  try {
    Expr total;
    for (const auto& [formula, count] : parts) total += formula * Expr(count);
    Exactness exactness = has_unknown_ ? std::max(exactness_, Exactness::kLowerBound) : exactness_;
    return {total, exactness, source_};
  } catch (const ArithmeticError&) {
    return unknown_quantity();
  }
}

}  // namespace kcharter
