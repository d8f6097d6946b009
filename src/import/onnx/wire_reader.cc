#include "import/onnx/wire_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "kcharter/base/error.h"

namespace kcharter {

bool read_varint(std::string_view text, size_t& position, uint64_t& value) {
  value = 0;
  // Ten groups of seven bits hold 64; a longer one is not a varint.
  for (int shift = 0; shift < 70 && position < text.size(); shift += 7) {
    const auto byte = static_cast<uint8_t>(text[position++]);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool PackedVarints::next(uint64_t& value) {
  if (position_ >= packed_.text.size()) return false;
  if (!read_varint(packed_.text, position_, value)) {
    throw Error(fmt::format("broken number in the packed field at byte {}", packed_.offset));
  }
  return true;
}

void WireReader::fail_truncated(uint32_t number, uint64_t wanted) const {
  throw Error(fmt::format(
      "truncated at byte {} of field {} of {}: {} bytes are wanted and {} are left; the file is "
      "incomplete or damaged, fetch it again",
      message_.offset + message_.text.size(), number, fields_.name, wanted,
      message_.text.size() - position_));
}

uint64_t WireReader::varint(uint32_t number) {
  uint64_t value = 0;
  const size_t start = position_;
  if (read_varint(message_.text, position_, value)) return value;
  position_ = start;
  if (message_.text.size() - start < 10) fail_truncated(number, message_.text.size() - start + 1);
  throw Error(fmt::format("byte {} is no protobuf: a number of {} is longer than 10 bytes",
                          message_.offset + start, fields_.name));
}

uint64_t WireReader::fixed(size_t size, uint32_t number) {
  if (message_.text.size() - position_ < size) fail_truncated(number, size);
  uint64_t value = 0;
  std::memcpy(&value, message_.text.data() + position_, size);
  position_ += size;
  return value;
}

bool WireReader::next(WireField& field) {
  while (position_ < message_.text.size()) {
    read(field);
    const uint64_t bit = field.number < 64 ? uint64_t{1} << field.number : 0;
    const uint64_t others = field.type == WireType::kBytes ? fields_.scalars : fields_.bytes;
    if ((bit & others) == 0) return true;
  }
  return false;
}

void WireReader::read(WireField& field) {
  const uint64_t at = message_.offset + position_;
  const uint64_t tag = varint(0);
  field.number = static_cast<uint32_t>(tag >> 3);
  if (field.number == 0 || tag >> 32 != 0) {
    throw Error(fmt::format("byte {} is no protobuf: tag {} in {}", at, tag, fields_.name));
  }
  switch (tag & 7) {
    case 0:
      field.scalar = varint(field.number);
      break;
    case 1:
      field.scalar = fixed(8, field.number);
      break;
    case 2: {
      const uint64_t length = varint(field.number);
      if (length > message_.text.size() - position_) fail_truncated(field.number, length);
      field.payload = {message_.text.substr(position_, length), message_.offset + position_};
      position_ += length;
      break;
    }
    case 5:
      field.scalar = fixed(4, field.number);
      break;
    default:
      throw Error(
          fmt::format("byte {} is no protobuf: wire type {} in {}", at, tag & 7, fields_.name));
  }
  field.type = static_cast<WireType>(tag & 7);
}

}  // namespace kcharter
