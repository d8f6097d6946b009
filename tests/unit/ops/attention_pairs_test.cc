// Formulas of pairs against counting them one by one.
#include "ops/attention_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kcharter {
namespace {

TEST(CompressedPairs, EqualTheSumOverTokens) {
  for (int64_t ratio : {1, 4, 128}) {
    for (int64_t selected : {0, 1, 3, 512}) {
      int64_t sum = 0;
      for (int64_t queries = 1; queries <= 600; ++queries) {
        sum += selected == 0 ? queries / ratio : std::min(queries / ratio, selected);
        Expr formula = compressed_pairs(Expr::variable("n"), ratio, selected);
        ASSERT_EQ(formula.substitute({{"n", Expr(queries)}}), Expr(sum)) << queries << " " << ratio << " " << selected;
      }
    }
  }
}

}  // namespace
}  // namespace kcharter
