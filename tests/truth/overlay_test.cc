// Profiles that ONNX Runtime wrote, with and without its optimizations, joined to the documents of
// the models that ran.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kcharter/analyze/analyze.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/overlay/overlay.h"
#include "kcharter/report/validate.h"
#include "truth/shared_files.h"

namespace kcharter::truth {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

Mode mode_of(const json& dims) {
  for (const auto& [name, value] : dims.items()) {
    if (name.starts_with("past") && name.find('+') == std::string::npos && value.is_number() && value > 0) {
      return Mode::kDecode;
    }
  }
  return Mode::kPrefill;
}

struct Row {
  std::string name;
  double joined = 0;
};

Row join(const fs::path& corpus, const json& profile) {
  const std::string name = profile["case"].get<std::string>() + " " + profile["optimizations"].get<std::string>();
  AnalyzeOptions options;
  options.import.mode = mode_of(profile["dims"]);
  const Document document = analyze(corpus / profile["model"].get<std::string>(), options).front();
  const fs::path file = corpus / "profiles" / profile["case"].get<std::string>() /
                        (profile["optimizations"].get<std::string>() + ".json");
  const MappedFile bytes(file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size());
  const Overlay measured = overlay(to_json(document), text, name);
  EXPECT_EQ(validate_document(measured.document), std::vector<std::string>{}) << name;
  EXPECT_NEAR(measured.modules.front(), measured.step_microseconds - measured.microseconds[4], 1e-3) << name;
  std::printf("PROFILE %s: %.0f us; joined by name %.1f %%, renamed %.1f %%, order %.1f %%; %zu contradictions%s%s\n",
              name.c_str(), measured.step_microseconds, 100 * measured.share(JoinedBy::kName),
              100 * measured.share(JoinedBy::kRenamed), 100 * measured.share(JoinedBy::kOrder),
              measured.contradictions.size(), measured.unjoined.empty() ? "" : "; not joined: ",
              measured.unjoined.empty() ? "" : measured.unjoined.front().name.c_str());
  for (size_t i = 0; i < std::min<size_t>(2, measured.contradictions.size()); ++i) {
    const Contradiction& one = measured.contradictions[i];
    std::printf("  CONTRADICTS %s: %s, measured %s\n", one.name.c_str(), one.expected.c_str(), one.measured.c_str());
  }
  return {name, 1 - measured.share(JoinedBy::kNothing)};
}

TEST(Overlay, JoinsTheMeasuredTime) {
  const auto corpus = corpus_dir();
  if (!corpus || !fs::exists(*corpus / "profiles" / "manifest.jsonl")) GTEST_SKIP() << "no profiles";
  std::ifstream lines(*corpus / "profiles" / "manifest.jsonl");
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(join(*corpus, json::parse(line)));
    count_case("profiles");
  }
  ASSERT_FALSE(rows.empty());
  std::ranges::sort(rows, {}, &Row::joined);
  std::printf("profiles: %zu; joined median %.2f %%, worst %.2f %% (%s)\n", rows.size(),
              100 * rows[rows.size() / 2].joined, 100 * rows.front().joined, rows.front().name.c_str());
  EXPECT_GE(rows[rows.size() / 2].joined, 0.95);
  EXPECT_GE(rows.front().joined, 0.80);
}

}  // namespace
}  // namespace kcharter::truth
