#include "kcharter/base/diagnostic.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

TEST(Diagnostics, CountWhatIsAlike) {
  Diagnostics some;
  some.add(Severity::kWarning, "unknown-operator", "node 'a'", "Foo is not known");
  some.add(Severity::kWarning, "unknown-operator", "node 'b'", "Foo is not known");
  some.add(Severity::kWarning, "unknown-operator", "node 'c'", "Bar is not known");
  Diagnostics all;
  all.add(some);
  all.add(some);
  ASSERT_EQ(all.all().size(), 2u);
  EXPECT_EQ(all.all()[0].count, 4);
  EXPECT_EQ(all.all()[0].subject, "node 'a'");
  EXPECT_EQ(all.all()[1].count, 2);
  EXPECT_TRUE(all.has("unknown-operator"));
  EXPECT_FALSE(all.has("other"));
}

}  // namespace
}  // namespace kcharter
