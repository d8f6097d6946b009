#include "kcharter/report/text_table.h"

#include <gtest/gtest.h>

#include "kcharter/report/amounts.h"

namespace kcharter {
namespace {

TEST(TextTable, AlignsByCharacters) {
  TextTable table(1);
  table.add({"", "prefill"});
  table.add({"Müller × 2", "≥ 1 B"});
  table.add_rule();
  EXPECT_EQ(table.to_string(80),
            "              prefill\n"
            "  Müller × 2    ≥ 1 B\n"
            "  ───────────────────\n");
}

TEST(TextTable, ShortensTheFirstColumn) {
  TextTable table(1);
  table.add({"a/very/long/path/of/a/module/that/does/not/end", "1"});
  EXPECT_EQ(table.to_string(30), "  a/very/long/…does/not/end  1\n");
  EXPECT_EQ(shortened_to("äöüäöü", 4), "äö…ü");
}

TEST(Amounts, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(Int{4} << 30), "4.00 GiB");
  EXPECT_EQ(bytes_text((Int{1} << 30) - 1), "1.00 GiB");
  EXPECT_EQ(count_text(988), "988");
  EXPECT_EQ(count_text(999999), "1.00 M");
  EXPECT_EQ(count_text(1235814400), "1.24 B");
  EXPECT_EQ(flops_text(Int{2530000000000}), "2.53 TFLOP");
  EXPECT_EQ(seconds_text(0.00452), "4.52 ms");
  EXPECT_EQ(seconds_text(0.00000001), "10.0 ns");
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
  EXPECT_EQ(grouped_digits(-1235814400), "-1,235,814,400");
  EXPECT_EQ(share_text(1, 3), "33 %");
  EXPECT_EQ(share_text(1, 100000), "< 0.1 %");
  EXPECT_EQ(share_text(1, 0), "—");
}

}  // namespace
}  // namespace kcharter
