#include "import/onnx/wire_reader.h"

#include <gmock/gmock.h>

#include <string>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

using ::testing::HasSubstr;

TEST(WireReader, GivesFieldsWithTheirPlaceInTheFile) {
  const std::string message = std::string("\x08\x96\x01", 3) + "\x12\x03" + "abc";
  WireReader reader({message, 100}, {"Test"});
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.integer(), 150);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.text(), "abc");
  EXPECT_EQ(field.payload.offset, 105u);
  EXPECT_FALSE(reader.next(field));
}

TEST(WireReader, SaysWhereAFileIsCutShort) {
  const std::string message =
      "\x3a\x7f"
      "only a little";
  WireReader reader({message, 0}, {"ModelProto"});
  WireField field;
  try {
    reader.next(field);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("truncated at byte 15 of field 7 of ModelProto: 127 bytes"));
  }
}

TEST(WireReader, ALengthNearTheEndOf64BitsDoesNotWrap) {
  const std::string message = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  WireReader reader({message, 0}, {"Test"});
  WireField field;
  EXPECT_THROW(reader.next(field), Error);
}

TEST(WireReader, PassesOverAFieldOfAnotherWireType) {
  const std::string message = "\x08\x01\x10\x02";
  WireReader reader({message, 0}, {"Test", field_set({1})});
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.number, 2u);
}

TEST(WireReader, RefusesWhatIsNoProtobuf) {
  for (const std::string& message :
       {std::string(1, '\0'), std::string("\x0b"), std::string(12, '\xff')}) {
    WireReader reader({message, 0}, {"Test"});
    WireField field;
    EXPECT_THROW(reader.next(field), Error);
  }
}

}  // namespace
}  // namespace kcharter
