#include "kcharter/base/utf8.h"

#include <gtest/gtest.h>

namespace kcharter {
namespace {

TEST(Utf8, KnowsWhatIsText) {
  EXPECT_EQ(utf8_sequence_length("a"), 1u);
  EXPECT_EQ(utf8_sequence_length("é"), 2u);
  EXPECT_EQ(utf8_sequence_length("≥"), 3u);
  EXPECT_EQ(utf8_sequence_length("\xF0\x9F\x98\x80"), 4u);
  for (const char* broken : {"\x80", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_EQ(utf8_sequence_length(broken), 0u);
  }
}

TEST(Utf8, LetsNothingControlTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\n\xC2\x9B"
                      "c\xFF≥"),
            "a [31mb  c?≥");
}

}  // namespace
}  // namespace kcharter
