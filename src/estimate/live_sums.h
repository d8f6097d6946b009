// Live sums: what is alive together, as the coefficients of a polynomial, so that tens of thousands
// of steps are compared without building a formula for each.
//
// Variables are shifted to their lower bounds; then a sum none of whose coefficients is less than
// another's is at least as large everywhere.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kcharter/estimate/lifetimes.h"
#include "kcharter/symbolic/expr.h"

namespace kcharter {

using LiveSumId = uint32_t;

// A max over more sums than this tells a reader nothing.
inline constexpr size_t kMaxCandidates = 64;

class LiveSums {
 public:
  // `bytes_of` is what a value takes while it is alive; nullopt: not known.
  using BytesOf = std::function<std::optional<Expr>(ValueId)>;
  // What a node needs besides while it runs.
  using ScratchOf = std::function<std::optional<Expr>(NodeId)>;
  LiveSums(const BytesOf& bytes_of, const ScratchOf& scratch_of, const Lifetimes& lifetimes,
           const Bindings& lower_bounds, const Bindings& defaults);

  // By step.
  const std::vector<LiveSumId>& at_step() const { return at_step_; }
  // A value whose size is not known is alive in that sum, which is then a lower bound.
  bool is_lower_bound(LiveSumId id) const { return is_truncated_ || sums_[id].unknown > 0; }
  Int value_at_defaults(LiveSumId id) const { return sums_[id].value; }
  // Those of `ids` that no other is at least as large as, ordered by value at the defaults; where
  // these are more than kMaxCandidates, one more than that.
  std::vector<LiveSumId> undominated(std::vector<LiveSumId> ids);
  Expr formula(LiveSumId id) const;

 private:
  struct Coefficient {
    uint32_t monomial;
    Int value;
    friend bool operator==(const Coefficient&, const Coefficient&) = default;
  };
  struct LiveSum {
    std::vector<Coefficient> coefficients;  // by monomial, none is 0
    uint32_t unknown = 0;
    Int value = 0;
    friend bool operator==(const LiveSum&, const LiveSum&) = default;
  };

  // The coefficients of an amount; nullptr: not known.
  const std::vector<Coefficient>* coefficients_of(const std::optional<Expr>& bytes);
  uint32_t monomial_id(const Expr& monomial);
  static void add(LiveSum& sum, const std::vector<Coefficient>& part, int sign);
  LiveSumId intern(const LiveSum& sum);
  bool at_least(LiveSumId a, LiveSumId b) const;

  std::map<std::string, Expr, std::less<>> shift_;    // v → v + its lower bound
  std::map<std::string, Expr, std::less<>> unshift_;  // v → v − its lower bound
  std::unordered_map<Expr, uint32_t> monomial_ids_;
  std::vector<Expr> monomials_;  // over the shifted variables
  std::vector<bool> at_least_zero_;
  std::vector<Int> monomial_values_;
  std::unordered_map<Expr, std::vector<Coefficient>> by_bytes_;
  std::vector<LiveSum> sums_;
  std::unordered_multimap<size_t, LiveSumId> ids_;
  std::vector<LiveSumId> at_step_;
  Bindings shifted_defaults_;
  LiveSumId largest_ = 0;
  size_t stored_ = 0;
  bool is_truncated_ = false;
};

}  // namespace kcharter
