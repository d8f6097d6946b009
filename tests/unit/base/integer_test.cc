#include "kcharter/base/integer.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

TEST(Integer, DividesTowardsMinusInfinity) {
  EXPECT_EQ(floor_div(Int{-7}, Int{2}), -4);
  EXPECT_EQ(floor_div(Int{7}, Int{-2}), -4);
  EXPECT_EQ(ceil_div(Int{-7}, Int{2}), -3);
  EXPECT_EQ(ceil_div(Int{7}, Int{2}), 4);
  EXPECT_EQ(floor_mod(Int{-7}, Int{2}), 1);
  EXPECT_EQ(floor_mod(Int{7}, Int{-2}), -1);
  EXPECT_THROW(floor_div(Int{1}, Int{0}), ArithmeticError);
}

TEST(Integer, ReadsBackWhatItWrites) {
  for (const char* text :
       {"0", "-1", "9007199254740993", "-9223372036854775808",
        "170141183460469231731687303715884105727", "-170141183460469231731687303715884105728"}) {
    EXPECT_EQ(to_string(parse_int(text)), text);
  }
  EXPECT_THROW(parse_int("170141183460469231731687303715884105728"), ArithmeticError);
  EXPECT_THROW(parse_int("1x"), Error);
  EXPECT_THROW(parse_int("-"), Error);
}

TEST(Integer, RefusesOverflow) {
  const Int largest = parse_int("170141183460469231731687303715884105727");
  EXPECT_THROW(checked_add(largest, 1), ArithmeticError);
  EXPECT_THROW(checked_sub(-2, largest), ArithmeticError);
  EXPECT_THROW(checked_mul(largest, 2), ArithmeticError);
  EXPECT_THROW(floor_div(-largest - 1, -1), ArithmeticError);
  EXPECT_THROW(to_int64(Int{1} << 63), ArithmeticError);
}

}  // namespace
}  // namespace kcharter
