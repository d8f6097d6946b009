#include "report/document_checks.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "kcharter/estimate/quantity.h"
#include "kcharter/symbolic/expr.h"
#include "report/json_schema.h"

namespace kcharter {
namespace {

using Json = nlohmann::json;

Int integer_of(const Json& value) {
  if (value.is_string()) return parse_int(value.get_ref<const std::string&>());
  return value.is_number_unsigned() ? Int{value.get<uint64_t>()} : Int{value.get<int64_t>()};
}

class DocumentChecker {
 public:
  DocumentChecker(const Json& document, std::vector<std::string>* problems)
      : document_(document), problems_(problems) {}

  void check() {
    read_variables();
    read_formulas();
    check_references();
    check_tree();
    if (!problems_->empty()) return;  // sums rely on all of that
    check_summary();
    check_sums();
    check_tensors();
  }

 private:
  void add(const std::string& what) {
    if (problems_->size() < kMaxProblems) problems_->push_back(what);
  }

  void read_variables() {
    for (const Json& variable : document_["variables"]) {
      values_[variable["name"].get<std::string>()] = integer_of(variable["value"]);
    }
  }

  // The value of a formula at the document's variables; nullopt: past 128 bits or not a formula.
  std::optional<Int> value_of(const std::string& text, const std::string& place) {
    try {
      const Expr formula = Expr::parse(text);
      for (const std::string& name : formula.variables()) {
        if (!values_.contains(name))
          add(place + ": '" + name + "' is not a variable of the document");
      }
      return formula.evaluate(values_);
    } catch (const ArithmeticError&) {
      return std::nullopt;
    } catch (const Error& error) {
      add(place + ": " + error.what());
      return std::nullopt;
    }
  }

  void read_formulas() {
    const Json& formulas = document_["formulas"];
    for (size_t i = 0; i < formulas.size(); ++i) {
      formula_values_.push_back(
          value_of(formulas[i].get<std::string>(), "/formulas/" + std::to_string(i)));
    }
  }

  // Every index under `value` where `value` is an index, a list of them, or null.
  void in_range(const Json& value, const char* table, const std::string& place) {
    if (value.is_array()) {
      for (const Json& entry : value) in_range(entry, table, place);
    } else if (value.is_number() && value.get<size_t>() >= document_[table].size()) {
      add(place + ": " + value.dump() + " is past the end of '" + table + "'");
    }
  }

  void members_in_range(const char* rows,
                        std::initializer_list<std::pair<const char*, const char*>> members) {
    const Json& list = document_[rows];
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string place = "/" + std::string(rows) + "/" + std::to_string(i);
      for (const auto& [member, table] : members) {
        const auto found = list[i].find(member);
        if (found != list[i].end()) in_range(*found, table, place + "/" + member);
      }
      const auto metrics = list[i].find("metrics");
      if (metrics == list[i].end()) continue;
      for (const auto& [name, quantity] : metrics->items()) {
        in_range(quantity["formula"], "formulas", place + "/metrics/" + name);
      }
    }
  }

  void check_references() {
    members_in_range("modules", {{"parent", "modules"},
                                 {"children", "modules"},
                                 {"tensors", "tensors"},
                                 {"caches", "caches"},
                                 {"carried", "values"}});
    members_in_range("nodes", {{"module", "modules"}, {"inputs", "values"}, {"outputs", "values"}});
    members_in_range("values", {{"shape", "formulas"},
                                {"bytes", "formulas"},
                                {"producer", "nodes"},
                                {"consumers", "nodes"},
                                {"tensor", "tensors"},
                                {"alias_of", "values"}});
    members_in_range("tensors", {{"module", "modules"}});
    members_in_range("caches", {{"input", "values"},
                                {"output", "values"},
                                {"node", "nodes"},
                                {"shape", "formulas"},
                                {"bytes", "formulas"},
                                {"module", "modules"}});
    const Json& peak = document_["peak"];
    in_range(peak["node"], "nodes", "/peak/node");
    for (const Json& live : peak["alive"]) {
      in_range(live["value"], "values", "/peak/alive");
      in_range(live["bytes"], "formulas", "/peak/alive");
    }
  }

  // Each module but the root stands once among its parent's items, each node once among its
  // module's.
  void check_tree() {
    const Json& modules = document_["modules"];
    std::vector<int> listed_modules(modules.size());
    std::vector<int> listed_nodes(document_["nodes"].size());
    for (size_t i = 0; i < modules.size(); ++i) {
      const std::string place = "/modules/" + std::to_string(i);
      const Json& parent = modules[i]["parent"];
      if (parent.is_null() != (i == 0) || (i > 0 && parent.get<size_t>() >= i)) {
        add(place + "/parent: " + parent.dump() + " does not stand before its child");
      }
      Json children = Json::array();
      for (const Json& item : modules[i]["items"]) {
        const bool is_module = item[0] == "module";
        std::vector<int>& listed = is_module ? listed_modules : listed_nodes;
        const size_t id = item[1].get<size_t>();
        if (id >= listed.size()) {
          add(place + "/items: " + item.dump() + " does not exist");
          continue;
        }
        ++listed[id];
        if (is_module) children.push_back(id);
        const Json& owner = is_module ? modules[id]["parent"] : document_["nodes"][id]["module"];
        if (owner != i)
          add(place + "/items: " + item.dump() + " belongs to module " + owner.dump());
      }
      if (children != modules[i]["children"]) {
        add(place + "/children: are not the modules among its items");
      }
    }
    for (size_t i = 1; i < modules.size(); ++i) {
      if (listed_modules[i] != 1)
        add("/modules/" + std::to_string(i) + ": is listed " + std::to_string(listed_modules[i]) +
            " times by its parent");
    }
    for (size_t i = 0; i < listed_nodes.size(); ++i) {
      if (listed_nodes[i] != 1)
        add("/nodes/" + std::to_string(i) + ": is listed " + std::to_string(listed_nodes[i]) +
            " times by its module");
    }
  }

  void check_summary() {
    for (const auto& [name, quantity] : document_["summary"].items()) {
      const std::string place = "/summary/" + name;
      if (quantity["formula"].is_null()) {
        if (!quantity["value"].is_null()) add(place + ": has a value but no formula");
        continue;
      }
      const auto computed = value_of(quantity["formula"].get<std::string>(), place);
      if (quantity["value"].is_null() ? computed.has_value()
                                      : computed != integer_of(quantity["value"])) {
        add(place + ": the value is " + quantity["value"].dump() + ", its formula gives " +
            (computed ? to_string(*computed) : "none"));
      }
    }
  }

  std::optional<Int> metric(const Json& row, std::string_view name) const {
    const Json& formula = row["metrics"][std::string(name)]["formula"];
    if (formula.is_null()) return std::nullopt;
    return formula_values_[formula.get<size_t>()];
  }

  // Children, own nodes and tensors make the module; where something is unknown nothing can be
  // said.
  void check_sums() {
    for (size_t m = 0; m < kMetricCount; ++m) {
      const auto which = static_cast<Metric>(m);
      // A peak is no sum. Weights and caches are of tensors and caches, not of nodes alone.
      if (which == Metric::kActivationPeakBytes) continue;
      for (size_t i = 0; i < document_["modules"].size(); ++i) check_sum(i, which);
    }
  }

  void check_sum(size_t id, Metric which) {
    const Json& module = document_["modules"][id];
    const auto whole = metric(module, name(which));
    Int sum = 0;
    for (const Json& item : module["items"]) {
      const Json& part =
          document_[item[0] == "module" ? "modules" : "nodes"][item[1].get<size_t>()];
      const auto value = metric(part, name(which));
      if (!value || !whole) return;
      sum = checked_add(sum, *value);
    }
    // What a module's own tensors and caches add is never negative.
    const bool has_own = which == Metric::kWeightBytes || which == Metric::kKvCacheBytes ||
                         which == Metric::kStateBytes || which == Metric::kCacheCopyBytes;
    if (whole && (has_own ? *whole < sum : *whole != sum)) {
      add("/modules/" + std::to_string(id) + "/metrics/" + std::string(name(which)) + ": is " +
          to_string(*whole) + ", its parts sum up to " + to_string(sum));
    }
  }

  // Every stored byte belongs to the model, and to nothing twice.
  void check_tensors() {
    const auto whole = metric(document_["modules"][0], name(Metric::kWeightBytes));
    Int sum = 0;
    for (const Json& tensor : document_["tensors"]) {
      sum = checked_add(sum,
                        checked_mul(integer_of(tensor["bytes"]), integer_of(tensor["instances"])));
    }
    if (whole && *whole != sum) {
      add("/tensors: hold " + to_string(sum) + " bytes, the model's weights are " +
          to_string(*whole));
    }
  }

  const Json& document_;
  std::vector<std::string>* problems_;
  Bindings values_;
  std::vector<std::optional<Int>> formula_values_;
};

}  // namespace

void check_document(const Json& document, std::vector<std::string>* problems) {
  DocumentChecker(document, problems).check();
}

}  // namespace kcharter
