// WireReader: the fields of one serialized protobuf message, in place and one after another.
//
// Why not protobuf's own parser: it copies every weight into memory and stops at 2 GiB. This one
// copies nothing, counts in 64 bits, knows where in the file each field lies, and does not recurse:
// a nested message is a FileBytes that the caller reads when it wants to.
//
//   WireReader reader(file, {"ModelProto", field_set({7})});
//   for (WireField field; reader.next(field);) {
//     if (field.number == 7) graph = field.payload;
//   }
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace kcharter {

// A stretch of the file, and where it begins there.
struct FileBytes {
  std::string_view text;
  uint64_t offset = 0;
};

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t scalar = 0;  // of a varint or fixed field
  FileBytes payload;    // of a bytes field
  int64_t integer() const { return static_cast<int64_t>(scalar); }
  std::string_view text() const { return payload.text; }
};

// Numbers of fields below 64, as bits.
constexpr uint64_t field_set(std::initializer_list<int> numbers) {
  uint64_t set = 0;
  for (const int number : numbers) set |= uint64_t{1} << number;
  return set;
}

// What a message's definition says: which of its fields hold bytes (texts, messages), which a
// number.
struct MessageFields {
  const char* name;
  uint64_t bytes = 0;
  uint64_t scalars = 0;
};

class WireReader {
 public:
  WireReader(FileBytes message, const MessageFields& fields) : message_(message), fields_(fields) {}

  // False at the end. A field of another wire type than the definition's is passed over, as
  // protobuf does. Throws Error where the message is cut short or is no protobuf.
  bool next(WireField& field);

 private:
  void read(WireField& field);
  uint64_t varint(uint32_t number);
  uint64_t fixed(size_t size, uint32_t number);
  [[noreturn]] void fail_truncated(uint32_t number, uint64_t wanted) const;

  FileBytes message_;
  MessageFields fields_;
  size_t position_ = 0;
};

// The numbers of a packed repeated field of varints.
class PackedVarints {
 public:
  explicit PackedVarints(FileBytes packed) : packed_(packed) {}
  bool next(uint64_t& value);

 private:
  FileBytes packed_;
  size_t position_ = 0;
};

// Reads a varint of `text` at `position` and moves behind it; false where it does not end.
bool read_varint(std::string_view text, size_t& position, uint64_t& value);

}  // namespace kcharter
