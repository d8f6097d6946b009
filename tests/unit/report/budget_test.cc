#include "kcharter/report/budget.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

TEST(ParseAmount, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_amount("4096"), 4096);
  EXPECT_EQ(parse_amount("24GiB"), Int{24} << 30);
  EXPECT_EQ(parse_amount("1.5 gb"), 1500000000);
  EXPECT_EQ(parse_amount("2Ki"), 2048);
  EXPECT_EQ(parse_amount("20TFLOP"), 20000000000000);
  EXPECT_EQ(parse_amount("0.1KiB"), 102);
}

TEST(ParseAmount, RefusesWhatIsNoAmount) {
  for (const char* text : {"", "GiB", "-1", "24GiX", "1.2.3", ".", "1e9", "9999999999999999999"}) {
    EXPECT_THROW(parse_amount(text), UsageError) << text;
  }
}

TEST(ParseBudget, TakesFullAndShortNames) {
  EXPECT_EQ(parse_budget("total<1").quantity, "total_bytes");
  EXPECT_EQ(parse_budget(" kv_cache_bytes <= 1KiB").quantity, "kv_cache_bytes");
  EXPECT_TRUE(parse_budget("flops<=1").may_equal);
  EXPECT_THROW(parse_budget("total>1"), UsageError);
  EXPECT_THROW(parse_budget("memory<1"), UsageError);
}

Document with_total(Quantity total) {
  Document document;
  document.estimate.total_bytes = std::move(total);
  return document;
}

TEST(CheckBudget, ALowerBoundExceedsButNeverKeeps) {
  const Budget below = parse_budget("total<100");
  const Budget above = parse_budget("total<101");
  EXPECT_EQ(check_budget(below, with_total({Expr(100)})).state, BudgetState::kExceeded);
  EXPECT_EQ(check_budget(above, with_total({Expr(100)})).state, BudgetState::kKept);
  EXPECT_EQ(check_budget(parse_budget("total<=100"), with_total({Expr(100)})).state,
            BudgetState::kKept);
  const Quantity at_least{Expr(100), Exactness::kLowerBound};
  EXPECT_EQ(check_budget(below, with_total(at_least)).state, BudgetState::kExceeded);
  EXPECT_EQ(check_budget(above, with_total(at_least)).state, BudgetState::kUndecided);
  EXPECT_EQ(check_budget(below, with_total(unknown_quantity())).state, BudgetState::kUndecided);
}

}  // namespace
}  // namespace kcharter
