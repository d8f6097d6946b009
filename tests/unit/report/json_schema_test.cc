#include "report/json_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kcharter {
namespace {

using Json = nlohmann::json;

std::string first_problem(const char* value, const char* schema) {
  std::vector<std::string> problems;
  check_schema(Json::parse(value), Json::parse(schema), &problems);
  return problems.empty() ? "" : problems.front();
}

TEST(JsonSchema, ChecksTheKeywordsOfOurSchemas) {
  EXPECT_EQ(first_problem("3", R"({"type":"integer","minimum":1})"), "");
  EXPECT_EQ(first_problem("0", R"({"type":"integer","minimum":1})"), "/: 0 is less than 1");
  EXPECT_EQ(first_problem("null", R"({"type":["string","null"]})"), "");
  EXPECT_EQ(first_problem("1.5", R"({"type":"integer"})"), "/: 1.5 is not of type \"integer\"");
  EXPECT_EQ(first_problem(R"("b")", R"({"enum":["a"]})"), "/: \"b\" is not one of [\"a\"]");
  EXPECT_EQ(first_problem(R"("12x")", R"({"pattern":"^-?[0-9]+$"})"),
            "/: \"12x\" is not a decimal integer");
}

TEST(JsonSchema, NamesThePlace) {
  const char* schema = R"({"type":"object","required":["a"],
    "properties":{"a":{"type":"array","items":{"$ref":"#/$defs/word"}}},
    "additionalProperties":{"type":"null"},
    "$defs":{"word":{"anyOf":[{"type":"string"},{"const":7}]}}})";
  EXPECT_EQ(first_problem(R"({"a":["x",7],"b":null})", schema), "");
  EXPECT_EQ(first_problem(R"({"b":null})", schema), "/: 'a' is missing");
  EXPECT_EQ(first_problem(R"({"a":["x",8]})", schema), "/a/1: 8 is none of the forms allowed here");
  EXPECT_EQ(first_problem(R"({"a":[],"b":1})", schema), "/b: 1 is not of type \"null\"");
}

TEST(JsonSchema, ChecksPairs) {
  const char* pair = R"({"type":"array","minItems":2,"maxItems":2,
    "prefixItems":[{"enum":["node"]},{"type":"integer"}]})";
  EXPECT_EQ(first_problem(R"(["node",1])", pair), "");
  EXPECT_EQ(first_problem(R"(["node","1"])", pair), "/1: \"1\" is not of type \"integer\"");
  EXPECT_EQ(first_problem(R"(["node"])", pair), "/: has 1 entries");
}

}  // namespace
}  // namespace kcharter
