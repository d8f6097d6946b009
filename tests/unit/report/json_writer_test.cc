#include "report/json_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kcharter {
namespace {

TEST(JsonWriter, WritesWhatOthersRead) {
  JsonWriter json;
  json.begin_object().key("name").text("x").key("dims").begin_array().integer(3).null().end_array();
  json.line().key("more").begin_object().end_object().key("last").boolean(true).end_object();
  EXPECT_EQ(json.take(), "{\"name\":\"x\",\"dims\":[3,null],\n\"more\":{},\"last\":true}");
}

TEST(JsonWriter, KeepsIntegersExact) {
  JsonWriter json;
  json.begin_array().integer((Int{1} << 53) - 1).integer(Int{1} << 53);
  json.integer(-(Int{1} << 90)).end_array();
  EXPECT_EQ(json.take(),
            "[9007199254740991,\"9007199254740992\",\"-1237940039285380274899124224\"]");
}

TEST(JsonWriter, KeepsRealsAndRefusesWhatIsNone) {
  JsonWriter json;
  json.begin_array().real(0.1).real(1e300).real(1.0 / 0.0).end_array();
  EXPECT_EQ(json.take(), "[0.1,1e+300,null]");
}

TEST(JsonWriter, EscapesWhatAModelMayContain) {
  std::string hostile = "\"\\\n\x01\x7f</script>≥\xff\xed\xa0\x80";
  hostile += '\0';
  const std::string quoted = json_quote(hostile);
  EXPECT_TRUE(nlohmann::json::accept(quoted)) << quoted;
  EXPECT_EQ(quoted, "\"\\\"\\\\\\n\\u0001\\u007f</script>≥����\\u0000\"");
}

}  // namespace
}  // namespace kcharter
