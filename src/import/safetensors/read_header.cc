#include "import/safetensors/read_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "kcharter/base/error.h"
#include "kcharter/base/integer.h"

namespace kcharter {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& tensor, const std::string& what) {
  throw Error("tensor '" + tensor + "': " + what);
}

// Receives the header's JSON piece by piece:
// {"__metadata__": {…}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
class HeaderReader : public nlohmann::json_sax<json> {
 public:
  std::vector<SafetensorsTensor> tensors;
  std::vector<std::string> unknown_dtypes;

  bool null() override { return value("null"); }
  bool boolean(bool /*value*/) override { return value("a boolean"); }
  bool binary(binary_t& /*value*/) override { return value("binary"); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    if (in_metadata_ || depth_ < 2) return value("a number");
    fail(current_.name, "'" + field_ + "' holds " + text + " where a whole number is expected");
  }
  bool number_integer(number_integer_t number) override {
    if (in_metadata_ || depth_ < 2) return value("a number");
    fail(current_.name, "'" + field_ + "' holds " + std::to_string(number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (in_metadata_ || depth_ < 2) return value("a number");
    if (!in_array_) fail(current_.name, "'" + field_ + "' is a number");
    if (field_ == "shape") add_dim(number);
    else if (field_ == "data_offsets") offsets_.push_back(number);
    if (offsets_.size() > 2) fail(current_.name, "'data_offsets' holds more than 2 numbers");
    return true;
  }
  bool string(string_t& text) override {
    if (in_metadata_) return true;
    if (depth_ != 2 || in_array_) return value("text");
    if (field_ == "dtype") set_dtype(text);
    return true;
  }
  bool start_object(std::size_t /*size*/) override {
    ++depth_;
    if (depth_ == 1 || in_metadata_) return bounded();
    if (depth_ != 2) fail(current_.name, "'" + field_ + "' is an object");
    in_metadata_ = field_ == "__metadata__";
    if (!in_metadata_) start_tensor();
    return true;
  }
  bool key(string_t& text) override {
    field_ = text;
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata_) finish_tensor();
    if (--depth_ == 1) in_metadata_ = false;
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    if (depth_ == 0) throw Error("the header is a JSON array, an object is expected");
    if (in_metadata_) {
      ++depth_;
      return bounded();
    }
    if (depth_ != 2 || in_array_) fail(current_.name, "'" + field_ + "' is an array");
    in_array_ = true;
    return true;
  }
  bool end_array() override {
    if (in_metadata_) --depth_;
    in_array_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& error) override {
    throw Error("the header is not JSON at byte " + std::to_string(position + 8) + ": " + error.what());
  }

 private:
  bool value(const char* kind) {
    if (depth_ == 0) throw Error(std::string("the header is ") + kind + ", an object is expected");
    if (!in_metadata_ && depth_ == 1) fail(field_, std::string("is ") + kind + ", an object is expected");
    return true;
  }
  bool bounded() {
    if (depth_ > 16) throw Error("the header is nested deeper than 16");
    return true;
  }
  void start_tensor() {
    if (tensors.size() >= SafetensorsHeader::kMostTensors) throw Error("more than 4,000,000 tensors");
    current_ = {};
    current_.name = field_;
    offsets_.clear();
    has_dtype_ = false;
    if (!names_.insert(field_).second) fail(field_, "stands twice in the header");
  }
  void add_dim(uint64_t number) {
    if (number > static_cast<uint64_t>(INT64_MAX)) fail(current_.name, "a dimension passes 2^63");
    if (current_.dims.size() >= SafetensorsHeader::kMostDims) {
      fail(current_.name, "more than 32 dimensions");
    }
    current_.dims.push_back(static_cast<int64_t>(number));
  }
  void set_dtype(const std::string& text) {
    has_dtype_ = true;
    std::optional<DType> dtype = parse_dtype(text);
    if (dtype) current_.dtype = *dtype;
    else unknown_dtypes.push_back(text);
  }
  void finish_tensor() {
    if (!has_dtype_) fail(current_.name, "has no 'dtype'");
    if (offsets_.size() != 2) fail(current_.name, "has no 'data_offsets' of two numbers");
    if (offsets_[0] > offsets_[1]) {
      fail(current_.name, "its data ends (" + std::to_string(offsets_[1]) + ") before it begins (" +
                              std::to_string(offsets_[0]) + ")");
    }
    current_.offset = offsets_[0];
    current_.length = offsets_[1] - offsets_[0];
    check_length();
    tensors.push_back(std::move(current_));
  }
  void check_length() const {
    Int elements = 1;
    try {
      for (int64_t dim : current_.dims) elements = checked_mul(elements, dim);
      if (current_.dtype == DType::kUnknown) return;
      Int bytes = ceil_div(checked_mul(elements, bits(current_.dtype)), Int(8));
      if (bytes != static_cast<Int>(current_.length)) {
        fail(current_.name, "its shape needs " + to_string(bytes) + " bytes, its offsets give " +
                                std::to_string(current_.length));
      }
    } catch (const ArithmeticError&) {
      fail(current_.name, "its shape overflows");
    }
  }

  int depth_ = 0;
  bool in_array_ = false;
  bool in_metadata_ = false;
  bool has_dtype_ = false;
  std::string field_;
  SafetensorsTensor current_;
  std::vector<uint64_t> offsets_;
  std::unordered_set<std::string> names_;
};

uint64_t header_length(std::span<const std::byte> file) {
  if (file.size() < 8) {
    throw Error("holds " + std::to_string(file.size()) + " bytes: too short for a safetensors file");
  }
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<uint64_t>(file[i]);
  if (length > SafetensorsHeader::kLongest) {
    throw Error("its header says it is " + std::to_string(length) +
                " bytes long; the format allows 100,000,000: not a safetensors file?");
  }
  if (length > file.size() - 8) {
    throw Error("its header is " + std::to_string(length) + " bytes long, the file has " +
                std::to_string(file.size() - 8) + " after the length: truncated within the header");
  }
  return length;
}

// Data must lie end to end: overlaps are an error, gaps a reservation.
void check_layout(SafetensorsHeader& header, uint64_t data_start, uint64_t file_size) {
  std::vector<const SafetensorsTensor*> by_offset;
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (tensor.length > 0) by_offset.push_back(&tensor);
  }
  std::sort(by_offset.begin(), by_offset.end(), [](const auto* a, const auto* b) {
    return a->offset != b->offset ? a->offset < b->offset : a->name < b->name;
  });
  uint64_t end = data_start;
  for (const SafetensorsTensor* tensor : by_offset) {
    if (tensor->offset < end) {
      fail(tensor->name, "overlaps the tensor before it: begins at byte " +
                             std::to_string(tensor->offset) + ", that one ends at " + std::to_string(end));
    }
    if (tensor->offset > end) {
      header.diagnostics.add(Severity::kWarning, "gap-in-file", "tensor '" + tensor->name + "'",
                             "bytes before it belong to no tensor");
    }
    end = tensor->offset + tensor->length;
  }
  if (end > file_size) {
    header.diagnostics.add(Severity::kWarning, "truncated-file", "",
                           "the header promises " + std::to_string(end) + " bytes, the file has " +
                               std::to_string(file_size) + ": sizes are those of the header");
  } else if (end < file_size) {
    header.diagnostics.add(Severity::kWarning, "gap-in-file", "",
                           std::to_string(file_size - end) + " bytes at the end belong to no tensor");
  }
}

}  // namespace

SafetensorsHeader read_safetensors_header(std::span<const std::byte> file) {
  uint64_t length = header_length(file);
  const char* text = reinterpret_cast<const char*>(file.data()) + 8;
  SafetensorsHeader header;
  if (length > 0 && text[0] == ' ') {
    header.diagnostics.add(Severity::kNote, "padded-header", "", "the header begins with a space");
  }
  HeaderReader reader;
  json::sax_parse(text, text + length, &reader);
  header.tensors = std::move(reader.tensors);
  for (const std::string& dtype : reader.unknown_dtypes) {
    header.diagnostics.add(Severity::kWarning, "unknown-dtype", "dtype '" + dtype + "'",
                           "type not known: bytes are taken from the offsets");
  }
  uint64_t data_start = 8 + length;
  for (SafetensorsTensor& tensor : header.tensors) {
    if (tensor.offset > UINT64_MAX / 2 || tensor.length > UINT64_MAX / 4) {
      fail(tensor.name, "its offsets pass 2^63");
    }
    tensor.offset += data_start;
  }
  check_layout(header, data_start, file.size());
  return header;
}

}  // namespace kcharter
