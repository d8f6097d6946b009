// Budgets: limits that a model must keep, for use in CI.
//
//   const Budget budget = parse_budget("total<24GiB");
//   check_budget(budget, document).state == BudgetState::kExceeded
#pragma once

#include <string>
#include <string_view>

#include "kcharter/estimate/device.h"
#include "kcharter/report/document.h"

namespace kcharter {

struct Budget {
  std::string text;      // as given
  // A name of the summary: total_bytes; after `device_` the same of one of several devices; `time` and
  // `time_bound`: nanoseconds of a step on a device.
  std::string quantity;
  bool may_equal = false;
  Int limit = 0;
};

bool is_time(const Budget& budget);

// QUANTITY<LIMIT or QUANTITY<=LIMIT; a quantity may leave out its `_bytes`. Throws UsageError.
Budget parse_budget(std::string_view text);

// "24GiB", "1.5 GB", "80G", "20TFLOP", "4096": K M G T P E are powers of 1000, Ki Mi … of 1024.
// A fraction of one is dropped. Throws UsageError.
Int parse_amount(std::string_view text);
// "50ms", "1.5 s", "80us", "200ns", in nanoseconds. Throws UsageError.
Int parse_duration(std::string_view text);

enum class BudgetState {
  kKept,
  kExceeded,   // a lower bound that exceeds the limit is enough
  kUndecided,  // unknown, or a lower bound below the limit
};

struct BudgetResult {
  BudgetState state = BudgetState::kKept;
  std::string message;  // empty where kept
};

// `device` is what times are on; a budget on a time without one is a UsageError.
BudgetResult check_budget(const Budget& budget, const Document& document,
                          const Device* device = nullptr);

}  // namespace kcharter
