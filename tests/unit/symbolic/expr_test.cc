#include "kcharter/symbolic/expr.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

const Expr kB = Expr::variable("b");
const Expr kS = Expr::variable("s");

std::string canonical(std::string_view text) { return Expr::parse(text).to_string(); }

TEST(Expr, PrintsOneFormForEqualFormulas) {
  EXPECT_EQ(canonical("2*b*(s-1)*896"), "1792*b*s-1792*b");
  EXPECT_EQ(canonical("(s+b)*(s-b)"), "-b*b+s*s");
  EXPECT_EQ(canonical("s+b-s-b"), "0");
  EXPECT_EQ(canonical("3-s"), "-s+3");
  EXPECT_EQ(canonical("--3"), "3");
}

TEST(Expr, DividesByConstants) {
  EXPECT_EQ(floor_div(6 * kS, 6), kS);
  EXPECT_EQ(floor_div(6 * kS + 4 * kB, 2), 3 * kS + 2 * kB);
  EXPECT_EQ(canonical("floor_div(6*s+1,4)"), "s+floor_div(s,2)");
  EXPECT_EQ(canonical("floor_div(floor_div(s,3)+1,4)"), "floor_div(s+3,12)");
  EXPECT_EQ(ceil_div(kS, 1), kS);
  EXPECT_EQ(canonical("ceil_div(s,16)"), "ceil_div(s,16)");
  EXPECT_EQ(ceil_div(kS, 16), floor_div(kS + 15, 16));
  EXPECT_EQ(canonical("floor_div(s-1,2)+1"), "ceil_div(s,2)");
  EXPECT_EQ(mod(kS, 1), Expr(0));
  EXPECT_EQ(canonical("mod(17*s+6*b+9,3)"), "mod(2*s,3)");
  EXPECT_EQ(floor_div(kS, -2), floor_div(0 - kS, 2));
  EXPECT_THROW(floor_div(kS, 0), ArithmeticError);
}

TEST(Expr, DividesByFormulas) {
  const Expr total = kB * (kS + 1) * 64;
  EXPECT_EQ(floor_div(total, kB * (kS + 1)), Expr(64));
  EXPECT_EQ(floor_div(total, kS + 1), 64 * kB);
  EXPECT_EQ(mod(total, 8 * kB), Expr(0));
  EXPECT_EQ(canonical("floor_div(4*b*s+2*b,2*b*s)"), "floor_div(2*s+1,s)");
}

TEST(Expr, KeepsOnlyUndominatedArguments) {
  EXPECT_EQ(max(kS, kS - 1), kS);
  EXPECT_EQ(min({kS, kS + kB, kS}), kS);
  EXPECT_EQ(canonical("max(3,s,max(b,7))"), "max(7,b,s)");
  EXPECT_EQ(canonical("min(4096,s)"), "min(4096,s)");
  EXPECT_EQ(max(Expr(-1), kS), kS);
}

TEST(Expr, CountsExpectedExperts) {
  EXPECT_EQ(expected_distinct(128, 8, 1), Expr(8));
  EXPECT_EQ(expected_distinct(128, 8, kS).evaluate({{"s", 1}}), 8);
  EXPECT_EQ(expected_distinct(128, 8, kS).evaluate({{"s", 4096}}), 128);
  EXPECT_EQ(expected_distinct(128, 8, kS).evaluate({{"s", 16}}), 82);
}

TEST(Expr, SubstitutesAndSimplifies) {
  EXPECT_EQ(Expr::parse("b*(past+n)").substitute({{"past", kS - 1}, {"n", 1}}), kB * kS);
  EXPECT_EQ(Expr::parse("min(b,past)").substitute({{"past", 0}}), Expr(0));
  EXPECT_EQ(Expr::parse("min(b,s)+mod(x,3)").variables(), (std::set<std::string>{"b", "s", "x"}));
}

TEST(Expr, RefusesWhatDoesNotFit) {
  const Expr big = Expr::parse("170141183460469231731687303715884105727");
  EXPECT_THROW(big + 1, ArithmeticError);
  EXPECT_THROW((big * kS).evaluate({{"s", 2}}), ArithmeticError);
  EXPECT_THROW(kS.evaluate({}), ArithmeticError);
  EXPECT_EQ(canonical("-170141183460469231731687303715884105728"),
            "-170141183460469231731687303715884105728");
}

TEST(Expr, BoundsHostileFormulas) {
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "(";
  EXPECT_THROW(Expr::parse(nested), Error);
  Expr deep = kS;
  EXPECT_THROW(for (int i = 0; i < 1000; ++i) deep = min(mod(deep, kB), 7 + kS - deep),
               ArithmeticError);
  Expr power = kS + kB + 1;
  EXPECT_THROW(for (int i = 0; i < 20; ++i) power = power * power, ArithmeticError);
}

TEST(Expr, NamesTheErrorInAFormula) {
  for (const char* broken :
       {"", "1+", "s s", "mod(s)", "foo(s)", "(s", "min()", "s,2", "min", "2s"}) {
    EXPECT_THROW(Expr::parse(broken), Error) << broken;
  }
}

TEST(Expr, ShowsWhichIsLarger) {
  const Bindings at_least_one = {{"s", 1}, {"b", 1}};
  EXPECT_TRUE(provably_at_least(kB * kS, kB, at_least_one));
  EXPECT_FALSE(provably_at_least(kB * kS, kB, {}));
  EXPECT_TRUE(provably_at_least(kS, floor_div(kS, 2), {}));
  EXPECT_TRUE(provably_at_least(kS, min(kS, kB), {}));
  EXPECT_TRUE(provably_at_least(kS, min(Expr(128), kS) - 1, {}));
  EXPECT_TRUE(provably_at_least(max(kS, kB), kB, {}));
  EXPECT_TRUE(provably_at_least(2 * kS, min(kS, kB) + min(kS, 3 * kB), {}));
  EXPECT_FALSE(provably_at_least(min(kS, kB), kB, {}));
}

TEST(Expr, WithFewestExpertsTakesTheChosenOnes) {
  const Expr distinct = expected_distinct(128, 8, Expr::variable("batch_size"));
  EXPECT_EQ(with_fewest_experts(3 * distinct + Expr::variable("x")), 24 + Expr::variable("x"));
  EXPECT_EQ(with_fewest_experts(max(Expr::variable("x"), distinct)), max(Expr::variable("x"), 8));
}

TEST(Expr, RoundingUpByAFormulaReadsWithoutSigns) {
  const Expr x = Expr::variable("x"), y = Expr::variable("y"), k = Expr::variable("k");
  EXPECT_EQ((8 * y * ceil_div(16 * x, k)).to_string(), "8*y*ceil_div(16*x,k)");
  EXPECT_EQ((1 - ceil_div(x, k)).to_string(), "-ceil_div(x,k)+1");
  EXPECT_EQ(floor_div(x - 1, k).to_string(), "floor_div(x-1,k)");
  for (const Expr& expr : {8 * y * ceil_div(16 * x, k), 1 - ceil_div(x, k), ceil_div(x + y, k) * ceil_div(y, k)}) {
    EXPECT_EQ(Expr::parse(expr.to_string()), expr) << expr.to_string();
  }
}

}  // namespace
}  // namespace kcharter
