// Sum: adds many Quantities cheaply: equal formulas are counted and multiplied once at the end,
// since a model repeats a few formulas thousands of times.
#pragma once

#include <unordered_map>

#include "kcharter/estimate/quantity.h"

namespace kcharter {

class Sum {
 public:
  void add(const Quantity& quantity, Int times = 1);
  void add(const Sum& other);
  // Throws nothing: an overflow makes the total unknown.
  Quantity total() const;

 private:
  std::unordered_map<Expr, Int> counts_;
  Exactness exactness_ = Exactness::kExact;
  Source source_ = Source::kTensor;
  bool has_unknown_ = false;
  bool has_known_ = false;
};

}  // namespace kcharter
