#include "report/priced_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kcharter/base/error.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

constexpr Metric kMoved[] = {Metric::kWeightReadBytes, Metric::kKvReadBytes, Metric::kKvWriteBytes,
                             Metric::kActivationReadBytes, Metric::kActivationWriteBytes};
// More names than any model has nodes; a document may claim to stand for any number.
constexpr int64_t kMostNames = 1 << 20;

// The document's formulas at its values, each worked out once.
class Formulas {
 public:
  Formulas(const Json& texts, const Bindings& values)
      : texts_(texts), values_(values), known_(texts.size()) {}

  std::optional<Int> at(const Json& index) {
    if (!index.is_number_unsigned()) return std::nullopt;
    const size_t i = index.get<size_t>();
    if (!known_[i]) known_[i] = evaluate(texts_[i].get<std::string>());
    return *known_[i];
  }

 private:
  std::optional<Int> evaluate(const std::string& text) const {
    try {
      return Expr::parse(text).evaluate(values_);
    } catch (const ArithmeticError&) {
      return std::nullopt;
    }
  }

  const Json& texts_;
  const Bindings& values_;
  std::vector<std::optional<std::optional<Int>>> known_;
};

Int integer_of(const Json& value) {
  return value.is_string() ? parse_int(value.get<std::string>()) : Int{value.get<int64_t>()};
}

Bindings values_of(const Json& variables, const Bindings& set) {
  Bindings values;
  for (const Json& variable : variables) {
    values[variable.at("name").get<std::string>()] = integer_of(variable.at("value"));
  }
  for (const auto& [name, value] : set) {
    const auto found = values.find(name);
    if (found == values.end()) {
      std::string known;
      for (const auto& [other, unused] : values) known += (known.empty() ? "" : ", ") + other;
      throw UsageError("the document has no variable '" + name + "'; it has " + known);
    }
    found->second = value;
  }
  return values;
}

NameRule name_rule(const Json& item) {
  NameRule rule;
  const auto found = item.find("instance_names");
  if (found == item.end() || !found->is_object()) return rule;
  if (found->contains("list")) rule.list = found->at("list").get<std::vector<std::string>>();
  if (!found->contains("parts") || !found->contains("numbers")) return rule;
  rule.parts = found->at("parts").get<std::vector<std::string>>();
  rule.numbers = found->at("numbers").get<std::vector<std::vector<int64_t>>>();
  if (rule.parts.size() != rule.numbers.size() + 1) rule = {};
  return rule;
}

PricedValue value_of(const Json& json, Formulas& formulas) {
  PricedValue value;
  value.name = json.value("name", "");
  value.names = name_rule(json);
  value.bytes = formulas.at(json.value("bytes", Json()));
  value.is_activation = json.value("role", "activation") == "activation";
  const Json shape = json.value("shape", Json());
  if (!shape.is_array()) return value;
  value.type = "[";
  for (const Json& dim : shape) {
    const std::optional<Int> size = formulas.at(dim);
    value.type += (value.type.size() > 1 ? ", " : "") + (size ? to_string(*size) : "?");
  }
  value.type += "] " + json.value("dtype", "");
  return value;
}

PricedNode node_of(const Json& json, Formulas& formulas, const Device& device) {
  PricedNode node;
  node.name = json.value("name", "");
  node.op_type = json.value("op_type", "");
  node.names = name_rule(json);
  node.module = json.at("module").get<size_t>();
  node.multiplicity = json.value("multiplicity", int64_t{1});
  for (const Json& output : json.at("outputs")) {
    if (output.is_number_unsigned()) node.outputs.push_back(output.get<size_t>());
  }
  bool complete = true;
  for (size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    const Json quantity = json.at("metrics").value(name(metric), Json::object());
    node.costs[i] = formulas.at(quantity.value("formula", Json()));
    complete = complete && node.costs[i] && quantity.value("exactness", "") != "lower_bound";
  }
  OperatorWork work;
  work.flops = static_cast<double>(node.costs[static_cast<size_t>(Metric::kFlops)].value_or(0));
  for (const Metric metric : kMoved) {
    work.bytes += static_cast<double>(node.costs[static_cast<size_t>(metric)].value_or(0));
  }
  work.launches = json.value("launches", int64_t{0});
  work.dtype = parse_dtype(json.value("compute_dtype", "")).value_or(DType::kUnknown);
  Node shown;
  shown.domain = json.value("domain", "");
  shown.op_type = node.op_type;
  work.kind = kind_of_work(shown, work.dtype);
  node.time = time_of(work, device);
  node.time.complete = complete;
  return node;
}

PricedModule module_of(const Json& json) {
  PricedModule module;
  module.name = json.value("name", "");
  module.path = json.value("path", "");
  if (json.at("parent").is_number_unsigned()) module.parent = json["parent"].get<size_t>();
  for (const Json& item : json.value("items", Json::array())) {
    module.items.emplace_back(item.at(0) == "module", item.at(1).get<size_t>());
  }
  module.instances = json.value("instances", std::vector<std::string>{});
  module.repeat = std::max<int64_t>(1, json.value("repeat", int64_t{1}));
  return module;
}

}  // namespace

PricedDocument price_document(std::string_view text, const Device& device, const Bindings& set) {
  const std::vector<std::string> problems = validate_document(text);
  if (!problems.empty()) throw Error("this is no document: " + problems.front());
  const Json json = Json::parse(text);
  PricedDocument document;
  document.name = json.at("model").value("name", "");
  document.format = json.at("model").value("format", "");
  document.mode = json.value("mode", "");
  document.values = values_of(json.at("variables"), set);
  Formulas formulas(json.at("formulas"), document.values);
  for (const Json& value : json.at("values")) {
    document.list_of_values.push_back(value_of(value, formulas));
  }
  for (const Json& module : json.at("modules")) document.modules.push_back(module_of(module));
  for (const Json& node : json.at("nodes")) {
    document.nodes.push_back(node_of(node, formulas, device));
    document.seconds += document.nodes.back().time.total;
  }
  return document;
}

std::vector<int64_t> repeats_above(const PricedDocument& document, size_t module) {
  std::vector<int64_t> repeats;
  for (std::optional<size_t> at = module; at; at = document.modules[*at].parent) {
    if (document.modules[*at].repeat > 1) repeats.push_back(document.modules[*at].repeat);
  }
  std::reverse(repeats.begin(), repeats.end());
  return repeats;
}

void for_each_name(const std::string& name, const NameRule& rule,
                   const std::vector<int64_t>& repeats,
                   const std::function<void(const std::string&)>& each) {
  if (!rule.list.empty()) {
    for (const std::string& one : rule.list) each(one);
    return;
  }
  int64_t count = 1;
  for (const int64_t repeat : repeats) {
    if (repeat > kMostNames / count) throw Error("it stands for too many nodes to name them all");
    count *= repeat;
  }
  if (rule.parts.empty()) {
    if (!name.empty()) each(name);
    return;
  }
  for (int64_t instance = 0; instance < count; ++instance) {
    std::string spelled = rule.parts.front();
    for (size_t i = 0; i < rule.numbers.size(); ++i) {
      const std::vector<int64_t>& steps = rule.numbers[i];
      Int number = steps.empty() ? 0 : steps[0];
      int64_t rest = instance;
      for (size_t level = repeats.size(); level-- > 0; rest /= repeats[level]) {
        if (level + 1 < steps.size()) {
          number = checked_add(number, checked_mul(steps[level + 1], rest % repeats[level]));
        }
      }
      spelled += to_string(number) + rule.parts[i + 1];
    }
    each(spelled);
  }
}

}  // namespace kcharter
