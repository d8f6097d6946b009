#include "import/safetensors/read_index.h"

#include <nlohmann/json.hpp>

#include "kcharter/base/error.h"

namespace kcharter {
namespace {

using nlohmann::json;

class IndexReader : public nlohmann::json_sax<json> {
 public:
  SafetensorsIndex index;
  bool has_map = false;

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t number) override {
    if (section_ == "metadata" && key_ == "total_size" && number > 0) index.total_size = number;
    return true;
  }
  bool number_float(number_float_t number, const string_t& /*text*/) override {
    bool whole = number >= 1 && number < 9e15 && number == static_cast<double>(static_cast<uint64_t>(number));
    if (section_ == "metadata" && key_ == "total_size" && whole) {
      index.total_size = static_cast<uint64_t>(number);
    }
    return true;
  }
  bool string(string_t& text) override {
    if (section_ != "weight_map" || depth_ != 2) return true;
    check_inside(text);
    if (index.weight_map.size() >= SafetensorsIndex::kMostTensors) throw Error("more than 4,000,000 tensors");
    index.weight_map.emplace_back(key_, text);
    return true;
  }
  bool start_object(std::size_t /*size*/) override { return deeper(); }
  bool key(string_t& text) override {
    if (depth_ == 1) section_ = text;
    has_map = has_map || (depth_ == 1 && text == "weight_map");
    key_ = text;
    return true;
  }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t /*size*/) override { return deeper(); }
  bool end_array() override { return --depth_, true; }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& error) override {
    throw Error("not JSON at byte " + std::to_string(position) + ": " + error.what());
  }

 private:
  bool deeper() {
    if (++depth_ > 16) throw Error("nested deeper than 16");
    return true;
  }
  void check_inside(const std::string& shard) const {
    bool inside = !shard.empty() && shard.front() != '/' && shard.find('\\') == std::string::npos &&
                  shard.find("..") == std::string::npos && shard.find(':') == std::string::npos;
    if (!inside) {
      throw Error("tensor '" + key_ + "': shard '" + shard + "' lies outside the checkpoint's folder");
    }
  }
  int depth_ = 0;
  std::string section_, key_;
};

}  // namespace

SafetensorsIndex read_safetensors_index(std::string_view text) {
  IndexReader reader;
  json::sax_parse(text.begin(), text.end(), &reader, json::input_format_t::json, /*strict=*/false);
  if (!reader.has_map) throw Error("has no 'weight_map': not an index of shards");
  return std::move(reader.index);
}

}  // namespace kcharter
