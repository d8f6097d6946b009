#include "overlay/document_index.h"

#include <algorithm>

#include "kcharter/base/error.h"
#include "kcharter/base/nesting.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

// The names of all instances, by the rule of schemas/README.md. `levels` are the repeats of the
// stages around it, outermost first.
std::vector<std::string> names_by_rule(const Json& rule, const std::vector<int64_t>& levels, size_t most) {
  std::vector<std::string> names;
  if (rule.contains("list")) {
    for (const Json& name : rule["list"]) names.push_back(name.get<std::string>());
    return names;
  }
  if (!rule.contains("parts") || !rule.contains("numbers")) return names;
  const Json &parts = rule["parts"], &numbers = rule["numbers"];
  if (parts.size() != numbers.size() + 1) return names;
  std::vector<int64_t> at(levels.size(), 0);
  for (bool more = true; more && names.size() < most;) {
    std::string name = parts[0].get<std::string>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].size() != levels.size() + 1) return {};
      Int number = numbers[i][0].get<int64_t>();
      for (size_t level = 0; level < levels.size(); ++level) {
        number += Int{numbers[i][level + 1].get<int64_t>()} * at[level];
      }
      name += to_string(number) + parts[i + 1].get<std::string>();
    }
    names.push_back(std::move(name));
    more = false;
    for (size_t level = levels.size(); level-- > 0 && !more;) {
      more = ++at[level] < levels[level];
      if (!more) at[level] = 0;
    }
  }
  return names;
}

}  // namespace

DocumentIndex::DocumentIndex(std::string_view text) {
  const std::vector<std::string> problems = validate_document(text);
  if (!problems.empty()) throw Error(problems.front());
  json_ = Json::parse(text);
  read_modules();
  read_nodes();
  read_values();
}

void DocumentIndex::read_modules() {
  for (const Json& module : json_["modules"]) {
    const uint32_t index = static_cast<uint32_t>(parents_.size());
    parents_.push_back(module["parent"].is_null() ? kNone : module["parent"].get<uint32_t>());
    repeats_.push_back(module.value("repeat", int64_t{1}));
    paths_.push_back(module["path"].get<std::string>());
    kinds_.push_back(module.value("kind", std::string()));
    module_paths_.try_emplace(paths_.back(), index);
    items_.emplace_back();
    for (const Json& item : module["items"]) {
      items_.back().emplace_back(item[0] == "module", item[1].get<uint32_t>());
    }
    const Json instances = module.value("instances", Json::array());
    for (const Json& path : instances) {
      if (++names_ > kMostNames) return;
      instance_paths_.try_emplace(path.get<std::string>(), instances[0].get<std::string>());
      module_paths_.try_emplace(path.get<std::string>(), index);
    }
  }
}

void DocumentIndex::add_names(const Json& entry, uint32_t index, Names& into) {
  if (names_ >= kMostNames) return;
  const std::string name = entry["name"].get<std::string>();
  if (!name.empty()) into.try_emplace(name, index);
  if (!entry.contains("instance_names")) return;
  std::vector<int64_t> levels;
  for (uint32_t at = nodes_[index].module; at != kNone; at = parents_[at]) {
    if (repeats_[at] > 1) levels.push_back(repeats_[at]);
  }
  std::ranges::reverse(levels);
  for (std::string& instance : names_by_rule(entry["instance_names"], levels, kMostNames - names_)) {
    ++names_;
    if (!instance.empty()) into.try_emplace(std::move(instance), index);
  }
}

void DocumentIndex::read_nodes() {
  for (const Json& entry : json_["nodes"]) {
    IndexedNode node{entry["name"].get<std::string>(), entry["op_type"].get<std::string>(),
                     entry["module"].get<uint32_t>(), {}, {}, {}, {}, entry.value("runs", true)};
    const auto read = [&](const char* key, std::vector<uint32_t>& into) {
      for (const Json& value : entry[key]) into.push_back(value.is_null() ? kNone : value.get<uint32_t>());
    };
    read("inputs", node.inputs);
    read("outputs", node.outputs);
    nodes_.push_back(std::move(node));
  }
  // Both branches of an If may use a name: it is that of the branch that runs.
  for (const bool runs : {true, false}) {
    for (uint32_t index = 0; index < nodes_.size(); ++index) {
      if (nodes_[index].runs == runs) add_names(json_["nodes"][index], index, node_names_);
    }
  }
}

void DocumentIndex::read_values() {
  for (const bool runs : {true, false}) {
    for (const Json& value : json_["values"]) {
      if (value["producer"].is_null()) continue;
      const uint32_t producer = value["producer"].get<uint32_t>();
      if (nodes_[producer].runs == runs) add_names(value, producer, value_makers_);
    }
  }
  for (const Json& value : json_["values"]) {
    if (value["producer"].is_null()) continue;
    const uint32_t producer = value["producer"].get<uint32_t>();
    for (const Json& consumer : value["consumers"]) {
      nodes_[producer].consumers.push_back(consumer.get<uint32_t>());
      nodes_[consumer.get<uint32_t>()].producers.push_back(producer);
    }
  }
}

namespace {

template <typename Names>
std::optional<uint32_t> find(const Names& names, std::string_view name) {
  const auto found = names.find(std::string(name));
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<uint32_t> DocumentIndex::node_called(std::string_view name) const {
  return find(node_names_, name);
}

std::optional<uint32_t> DocumentIndex::maker_of(std::string_view value) const {
  return find(value_makers_, value);
}

std::optional<uint32_t> DocumentIndex::module_at(std::string_view path) const {
  constexpr int kDeepest = 64;  // stages in stages
  std::string known(path);
  for (int level = 0; level < kDeepest; ++level) {
    if (const auto whole = find(module_paths_, known)) return whole;
    // Descendants of a stage carry the path of its first instance.
    const auto replaced = in_first_instance(known);
    if (!replaced) return std::nullopt;
    known = *replaced;
  }
  return std::nullopt;
}

std::optional<std::string> DocumentIndex::in_first_instance(const std::string& path) const {
  for (size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0; dot = path.rfind('.', dot - 1)) {
    const auto first = instance_paths_.find(path.substr(0, dot));
    if (first != instance_paths_.end() && first->first != first->second) return first->second + path.substr(dot);
  }
  return std::nullopt;
}

// Walks the tree as it runs; `visit(is_module, index)` for every instance.
template <typename Visit>
static void walk(const std::vector<std::vector<std::pair<bool, uint32_t>>>& items,
                 const std::vector<int64_t>& repeats, Visit visit) {
  struct Open {
    uint32_t module;
    size_t item = 0;
    int64_t rounds;
  };
  if (items.empty()) return;
  std::vector<Open> open = {{0, 0, repeats[0]}};
  size_t steps = 0;
  while (!open.empty() && ++steps < DocumentIndex::kMostNames) {
    Open& top = open.back();
    if (top.item == items[top.module].size()) {
      top.item = 0;
      if (--top.rounds <= 0) open.pop_back();
      continue;
    }
    const auto [is_module, index] = items[top.module][top.item++];
    visit(is_module, index);
    if (is_module) open.push_back({index, 0, repeats[index]});
  }
}

std::vector<uint32_t> DocumentIndex::running_order() const {
  std::vector<uint32_t> order;
  walk(items_, repeats_, [&](bool is_module, uint32_t index) {
    if (!is_module) order.push_back(index);
  });
  return order;
}

std::vector<uint32_t> DocumentIndex::modules_of_class(std::string_view class_name) const {
  std::vector<uint32_t> modules;
  walk(items_, repeats_, [&](bool is_module, uint32_t index) {
    if (!is_module || kinds_[index] != class_name) return;
    modules.insert(modules.end(), static_cast<size_t>(std::max<int64_t>(1, repeats_[index])), index);
  });
  return modules;
}

std::optional<std::vector<Expr>> DocumentIndex::shape_of(uint32_t value) const {
  const Json& values = json_["values"];
  if (value >= values.size() || values[value]["shape"].is_null()) return std::nullopt;
  std::vector<Expr> shape;
  for (const Json& dim : values[value]["shape"]) {
    if (dim.is_null()) return std::nullopt;
    shape.push_back(Expr::parse(json_["formulas"][dim.get<size_t>()].get<std::string>()));
  }
  return shape;
}

}  // namespace kcharter
