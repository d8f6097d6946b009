// A valid document, broken in one place at a time.

#include "kcharter/report/validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "kcharter/analyze/analyze.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

std::string problem_after(const std::function<void(Json&)>& change) {
  AnalyzeOptions options;
  options.import.mode = Mode::kDecode;
  static const std::string document =
      to_json(analyze("models/samples/decoder.onnxtxt", options)[0]);
  Json json = Json::parse(document);
  change(json);
  const std::vector<std::string> problems = validate_document(json.dump());
  return problems.empty() ? "" : problems.front();
}

TEST(Validate, FindsWhatTheSchemaForbids) {
  EXPECT_EQ(problem_after([](Json&) {}), "");
  EXPECT_EQ(problem_after([](Json& json) { json["a_later_member"] = 1; }), "");
  EXPECT_EQ(problem_after([](Json& json) { json["nodes"][2].erase("op_type"); }),
            "/nodes/2: 'op_type' is missing");
  EXPECT_EQ(problem_after([](Json& json) { json["schema_version"] = "2.0"; }),
            "has the schema version \"2.0\"; this program reads 1.x");
}

TEST(Validate, RefusesNestingWithoutEnd) {
  const std::string deep = R"({"schema":"kcharter.document","schema_version":"1.0","mode":)" +
                           std::string(1000000, '[') + std::string(1000000, ']') + "}";
  EXPECT_EQ(validate_document(deep).size(), 1u);
}

TEST(Validate, FindsReferencesToNothing) {
  EXPECT_EQ(problem_after([](Json& json) { json["nodes"][1]["inputs"][0] = 99999; }),
            "/nodes/1/inputs: 99999 is past the end of 'values'");
  EXPECT_NE(problem_after([](Json& json) { json["modules"][1]["parent"] = 1; }), "");
  EXPECT_NE(problem_after([](Json& json) { json["modules"][0]["items"].erase(0); }), "");
}

TEST(Validate, FindsFormulasThatAreNone) {
  EXPECT_NE(problem_after([](Json& json) { json["formulas"][0] = "2*"; }), "");
  EXPECT_EQ(problem_after([](Json& json) { json["formulas"][0] = "other"; }),
            "/formulas/0: 'other' is not a variable of the document");
}

TEST(Validate, FindsSumsThatDoNotAddUp) {
  EXPECT_NE(problem_after([](Json& json) { json["summary"]["flops"]["value"] = 1; }), "");
  const auto swap_flops = [](Json& json) {
    json["modules"][0]["metrics"]["flops"] = json["modules"][0]["metrics"]["kv_read_bytes"];
  };
  EXPECT_NE(problem_after(swap_flops).find("/modules/0/metrics/flops: is"), std::string::npos);
}

}  // namespace
}  // namespace kcharter
