// Budgets: limits that a model must keep, for use in CI.
//
//   const Budget budget = parse_budget("total<24GiB");
//   check_budget(budget, document).state == BudgetState::kExceeded
#pragma once

#include <string>
#include <string_view>

#include "kcharter/report/document.h"

namespace kcharter {

struct Budget {
  std::string text;      // as given
  std::string quantity;  // a name of the summary: total_bytes
  bool may_equal = false;
  Int limit = 0;
};

// QUANTITY<LIMIT or QUANTITY<=LIMIT; a quantity may leave out its `_bytes`. Throws UsageError.
Budget parse_budget(std::string_view text);

// "24GiB", "1.5 GB", "80G", "20TFLOP", "4096": K M G T P E are powers of 1000, Ki Mi … of 1024.
// A fraction of one is dropped. Throws UsageError.
Int parse_amount(std::string_view text);

enum class BudgetState {
  kKept,
  kExceeded,   // a lower bound that exceeds the limit is enough
  kUndecided,  // unknown, or a lower bound below the limit
};

struct BudgetResult {
  BudgetState state = BudgetState::kKept;
  std::string message;  // empty where kept
};

BudgetResult check_budget(const Budget& budget, const Document& document);

}  // namespace kcharter
