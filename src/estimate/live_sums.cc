#include "estimate/live_sums.h"

#include <algorithm>

namespace kcharter {
namespace {

// A graph made to have a different sum at every step must not use unbounded memory.
constexpr size_t kMaxCoefficients = size_t{1} << 24;

size_t mixed(size_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash;
}

}  // namespace

LiveSums::LiveSums(const BytesOf& bytes_of, const ScratchOf& scratch_of,
                   const Lifetimes& lifetimes, const Bindings& lower_bounds,
                   const Bindings& defaults) {
  for (const auto& [name, bound] : lower_bounds) {
    if (bound <= 0) continue;
    shift_[name] = Expr::variable(name) + Expr(bound);
    unshift_[name] = Expr::variable(name) - Expr(bound);
  }
  for (const auto& [name, value] : defaults) {
    auto bound = lower_bounds.find(name);
    shifted_defaults_[name] =
        value - (bound == lower_bounds.end() ? 0 : std::max<Int>(bound->second, 0));
  }
  size_t steps = std::max<size_t>(lifetimes.steps.size(), 1);
  std::vector<std::vector<uint32_t>> born(steps), dying(steps);
  for (uint32_t i = 0; i < lifetimes.values.size(); ++i) {
    born[lifetimes.values[i].birth].push_back(i);
    dying[lifetimes.values[i].death].push_back(i);
  }
  LiveSum alive;
  auto change = [&](const std::optional<Expr>& bytes, int sign) {
    const auto* part = coefficients_of(bytes);
    if (part != nullptr)
      add(alive, *part, sign);
    else
      alive.unknown += static_cast<uint32_t>(sign);
  };
  auto apply = [&](const std::vector<uint32_t>& values, int sign) {
    for (uint32_t i : values) {
      try {
        change(bytes_of(lifetimes.values[i].memory), sign);
      } catch (const ArithmeticError&) {
        change(std::nullopt, sign);  // too large to be written down
      }
    }
  };
  for (size_t step = 0; step < steps; ++step) {
    apply(born[step], 1);
    const bool runs = scratch_of && step < lifetimes.steps.size();
    const auto scratch = runs ? scratch_of(lifetimes.steps[step]) : std::optional<Expr>(Expr(0));
    if (!scratch || !scratch->is_zero()) change(scratch, 1);
    at_step_.push_back(intern(alive));
    if (!scratch || !scratch->is_zero()) change(scratch, -1);
    apply(dying[step], -1);
  }
}

uint32_t LiveSums::monomial_id(const Expr& monomial) {
  auto [found, added] = monomial_ids_.emplace(monomial, monomials_.size());
  if (!added) return found->second;
  monomials_.push_back(monomial);
  at_least_zero_.push_back(provably_at_least(monomial, Expr(0), {}));
  Int value = 0;
  try {
    value = monomial.evaluate(shifted_defaults_);
  } catch (const ArithmeticError&) {
    value = 0;  // a variable without a default: it only orders and names the peak's step
  }
  monomial_values_.push_back(value);
  return found->second;
}

const std::vector<LiveSums::Coefficient>* LiveSums::coefficients_of(
    const std::optional<Expr>& bytes) {
  if (!bytes) return nullptr;
  try {
    auto found = by_bytes_.find(*bytes);
    if (found != by_bytes_.end()) return &found->second;
    std::vector<Coefficient> coefficients;
    for (const auto& [coefficient, monomial] : bytes->substitute(shift_).terms()) {
      coefficients.push_back({monomial_id(monomial), coefficient});
    }
    std::sort(coefficients.begin(), coefficients.end(),
              [](const auto& a, const auto& b) { return a.monomial < b.monomial; });
    return &by_bytes_.emplace(*bytes, std::move(coefficients)).first->second;
  } catch (const ArithmeticError&) {
    return nullptr;  // too large to be written down
  }
}

void LiveSums::add(LiveSum& sum, const std::vector<Coefficient>& part, int sign) {
  for (const Coefficient& coefficient : part) {
    auto place = std::lower_bound(
        sum.coefficients.begin(), sum.coefficients.end(), coefficient.monomial,
        [](const Coefficient& c, uint32_t monomial) { return c.monomial < monomial; });
    Int change = sign * coefficient.value;
    if (place == sum.coefficients.end() || place->monomial != coefficient.monomial) {
      sum.coefficients.insert(place, {coefficient.monomial, change});
    } else if ((place->value = checked_add(place->value, change)) == 0) {
      sum.coefficients.erase(place);
    }
  }
}

LiveSumId LiveSums::intern(const LiveSum& sum) {
  size_t hash = sum.unknown;
  for (const Coefficient& c : sum.coefficients) {
    hash = mixed(mixed(hash, c.monomial), static_cast<uint64_t>(c.value));
  }
  auto [begin, end] = ids_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const LiveSum& known = sums_[it->second];
    if (known.unknown == sum.unknown && known.coefficients == sum.coefficients) return it->second;
  }
  stored_ += sum.coefficients.size();
  if (stored_ > kMaxCoefficients) {
    is_truncated_ = true;
    return largest_;
  }
  LiveSumId id = static_cast<LiveSumId>(sums_.size());
  sums_.push_back(sum);
  Int value = 0;
  try {
    for (const Coefficient& c : sum.coefficients) {
      value = checked_add(value, checked_mul(c.value, monomial_values_[c.monomial]));
    }
  } catch (const ArithmeticError&) {
    value = 0;
  }
  sums_.back().value = value;
  if (value > sums_[largest_].value) largest_ = id;
  ids_.emplace(hash, id);
  return id;
}

bool LiveSums::at_least(LiveSumId a, LiveSumId b) const {
  if (sums_[a].unknown < sums_[b].unknown) return false;
  const auto& more = sums_[a].coefficients;
  const auto& less = sums_[b].coefficients;
  size_t i = 0, j = 0;
  while (i < more.size() || j < less.size()) {
    uint32_t monomial = std::min(i < more.size() ? more[i].monomial : UINT32_MAX,
                                 j < less.size() ? less[j].monomial : UINT32_MAX);
    Int difference = 0;
    if (i < more.size() && more[i].monomial == monomial) difference += more[i++].value;
    if (j < less.size() && less[j].monomial == monomial) difference -= less[j++].value;
    if (difference < 0 || (difference > 0 && !at_least_zero_[monomial])) return false;
  }
  return true;
}

std::vector<LiveSumId> LiveSums::undominated(std::vector<LiveSumId> ids) {
  std::sort(ids.begin(), ids.end(), [&](LiveSumId a, LiveSumId b) {
    return sums_[a].value != sums_[b].value ? sums_[a].value > sums_[b].value : a < b;
  });
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  // A sum can be at least as large as one before it where both are equal at the defaults.
  std::vector<LiveSumId> kept;
  for (LiveSumId id : ids) {
    if (kept.size() > kMaxCandidates) break;
    bool dominated =
        std::any_of(kept.begin(), kept.end(), [&](LiveSumId other) { return at_least(other, id); });
    if (dominated) continue;
    std::erase_if(kept, [&](LiveSumId other) { return at_least(id, other); });
    kept.push_back(id);
  }
  return kept;
}

Expr LiveSums::formula(LiveSumId id) const {
  Expr sum;
  for (const Coefficient& c : sums_[id].coefficients) {
    sum += Expr(c.value) * monomials_[c.monomial];
  }
  return sum.substitute(unshift_);
}

}  // namespace kcharter
