#include "report/json_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace kcharter {
namespace {

using Json = nlohmann::json;

// Nesting of our schemas is fixed; this bounds what a document can make of it.
constexpr int kMaxDepth = 32;

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

bool has_one_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get_ref<const std::string&>());
  return std::any_of(types.begin(), types.end(), [&](const Json& type) {
    return has_type(value, type.get_ref<const std::string&>());
  });
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 60) + "…";
  return text;
}

// The one pattern of our schemas: a decimal integer.
bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class Checker {
 public:
  Checker(const Json& root, std::vector<std::string>* problems)
      : root_(root), problems_(problems) {}

  void check(const Json& value, const Json& schema, const std::string& place, int depth) {
    if (problems_->size() >= kMaxProblems || depth > kMaxDepth) return;
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
      const std::string name = reference->get<std::string>().substr(std::string("#/$defs/").size());
      check(value, root_.at("$defs").at(name), place, depth + 1);
      return;
    }
    if (const auto options = schema.find("anyOf"); options != schema.end()) {
      return check_any(value, *options, place, depth);
    }
    if (const auto types = schema.find("type");
        types != schema.end() && !has_one_type(value, *types)) {
      return add(place, shown(value) + " is not of type " + types->dump());
    }
    check_scalar(value, schema, place);
    if (value.is_object()) check_object(value, schema, place, depth);
    if (value.is_array()) check_array(value, schema, place, depth);
  }

 private:
  void add(const std::string& place, const std::string& what) {
    if (problems_->size() < kMaxProblems) {
      problems_->push_back((place.empty() ? "/" : place) + ": " + what);
    }
  }

  void check_any(const Json& value, const Json& options, const std::string& place, int depth) {
    for (const Json& option : options) {
      std::vector<std::string> problems;
      Checker(root_, &problems).check(value, option, place, depth + 1);
      if (problems.empty()) return;
    }
    add(place, shown(value) + " is none of the forms allowed here");
  }

  void check_scalar(const Json& value, const Json& schema, const std::string& place) {
    const auto constant = schema.find("const");
    if (constant != schema.end() && value != *constant) {
      add(place, shown(value) + " is not " + constant->dump());
    }
    const auto options = schema.find("enum");
    if (options != schema.end() &&
        std::find(options->begin(), options->end(), value) == options->end()) {
      add(place, shown(value) + " is not one of " + options->dump());
    }
    const auto minimum = schema.find("minimum");
    if (minimum != schema.end() && value.is_number() &&
        value.get<double>() < minimum->get<double>()) {
      add(place, shown(value) + " is less than " + minimum->dump());
    }
    if (schema.contains("pattern") && value.is_string() &&
        !is_decimal(value.get_ref<const std::string&>())) {
      add(place, shown(value) + " is not a decimal integer");
    }
  }

  void check_object(const Json& value, const Json& schema, const std::string& place, int depth) {
    if (const auto required = schema.find("required"); required != schema.end()) {
      for (const Json& name : *required) {
        const auto& text = name.get_ref<const std::string&>();
        if (!value.contains(text)) add(place, "'" + text + "' is missing");
      }
    }
    const auto properties = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    for (const auto& [name, member] : value.items()) {
      if (properties != schema.end() && properties->contains(name)) {
        check(member, (*properties)[name], place + "/" + name, depth + 1);
      } else if (others != schema.end() && others->is_object()) {
        check(member, *others, place + "/" + name, depth + 1);
      }
    }
  }

  void check_array(const Json& value, const Json& schema, const std::string& place, int depth) {
    const size_t least = schema.value("minItems", size_t{0});
    const size_t most = schema.value("maxItems", value.size());
    if (value.size() < least || value.size() > most) {
      return add(place, "has " + std::to_string(value.size()) + " entries");
    }
    const auto first = schema.find("prefixItems");
    const auto all = schema.find("items");
    for (size_t i = 0; i < value.size(); ++i) {
      const bool is_prefix = first != schema.end() && i < first->size();
      if (!is_prefix && all == schema.end()) continue;
      check(value[i], is_prefix ? (*first)[i] : *all, place + "/" + std::to_string(i), depth + 1);
    }
  }

  const Json& root_;
  std::vector<std::string>* problems_;
};

}  // namespace

void check_schema(const Json& value, const Json& schema, std::vector<std::string>* problems) {
  Checker(schema, problems).check(value, schema, "", 0);
}

}  // namespace kcharter
