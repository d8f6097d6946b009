// The gates of the accuracy report on published measurements, and that docs/accuracy.md shows it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "accuracy/report.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

std::filesystem::path tree() {
  const std::filesystem::path tests = std::filesystem::path(__FILE__).parent_path().parent_path();
  return tests.parent_path();
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// "217 steps and 786 operators.": of which tables a report is.
std::string tables_of(const std::string& report) {
  const size_t end = report.find(" operators.\n");
  return end == std::string::npos ? "" : report.substr(report.rfind('\n', end) + 1, end - report.rfind('\n', end));
}

TEST(AccuracyTruth, GatesAreMetAndTheReportIsCurrent) {
  const auto shared = shared_dir();
  if (!shared || !std::filesystem::exists(*shared / "truth/time_truth.csv")) {
    GTEST_SKIP() << "no measurements";
  }
  const accuracy::Accuracy accuracy =
      accuracy::measure_accuracy(tree() / "models/configs", *shared / "truth");
  for (const accuracy::Gate& gate : accuracy.gates) {
    EXPECT_TRUE(gate.passed()) << gate.what << ": " << gate.value << ", limit " << gate.limit;
  }
  for (size_t i = 0; i < accuracy.steps.size(); ++i) count_case("accuracy: steps");
  for (size_t i = 0; i < accuracy.operators.size(); ++i) count_case("accuracy: operators");
  const std::string now = accuracy::report(accuracy);
  const std::string written = text_of(tree() / "docs/accuracy.md");
  // Of other measurements it would be another report.
  if (tables_of(now) == tables_of(written)) EXPECT_EQ(now, written) << "run scripts/accuracy";
}

}  // namespace
}  // namespace kcharter::truth
