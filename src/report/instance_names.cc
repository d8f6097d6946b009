#include "report/instance_names.h"

#include <algorithm>
#include <charconv>

namespace kcharter {
namespace {

// Names that follow no rule are listed where they are few: a first layer's norm, say, that another
// operator stands for.
constexpr size_t kMostListed = 128;

struct SplitName {
  std::vector<std::string_view> parts;
  std::vector<int64_t> numbers;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Numbers that do not print as they stand ("007") or do not fit belong to the text.
SplitName split(std::string_view name) {
  constexpr size_t kMostDigits = 15;
  SplitName result;
  size_t begin = 0, at = 0;
  while (at < name.size()) {
    size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    const size_t digits = end - at;
    if (digits > 0 && digits <= kMostDigits && (name[at] != '0' || digits == 1)) {
      int64_t number = 0;
      for (char c : name.substr(at, digits)) number = number * 10 + (c - '0');
      result.parts.push_back(name.substr(begin, at - begin));
      result.numbers.push_back(number);
      begin = end;
    }
    at = std::max(end, at + 1);
  }
  result.parts.push_back(name.substr(begin));
  return result;
}

// How many instances one step at each level skips: the product of the levels below.
std::vector<size_t> strides_of(const std::vector<int64_t>& repeats) {
  std::vector<size_t> strides(repeats.size(), 1);
  for (size_t level = repeats.size(); level-- > 1;) {
    strides[level - 1] = strides[level] * static_cast<size_t>(repeats[level]);
  }
  return strides;
}

// Reads the name along the rule rather than splitting it: there is one for each node of the graph.
bool is_called(std::string_view name, const InstanceNames& rule, const std::vector<size_t>& strides,
               const std::vector<int64_t>& repeats, size_t instance) {
  for (size_t i = 0; i < rule.parts.size(); ++i) {
    if (!name.starts_with(rule.parts[i])) return false;
    name.remove_prefix(rule.parts[i].size());
    if (i == rule.numbers.size()) break;
    int64_t expected = rule.numbers[i][0];
    for (size_t level = 0; level < repeats.size(); ++level) {
      const size_t index = instance / strides[level] % static_cast<size_t>(repeats[level]);
      expected += rule.numbers[i][level + 1] * static_cast<int64_t>(index);
    }
    int64_t found = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found);
    const bool has_zero_before = name.size() > 1 && name[0] == '0' && is_digit(name[1]);
    if (error != std::errc() || found != expected || has_zero_before || name[0] == '-') return false;
    name.remove_prefix(static_cast<size_t>(end - name.data()));
  }
  return name.empty();
}

// The repeats of the stages around a module, outermost first.
std::vector<int64_t> repeats_around(const ModuleTree& tree, ModuleId module) {
  std::vector<int64_t> repeats;
  for (ModuleId at = module; at; at = tree[at].parent) {
    if (tree[at].repeat > 1) repeats.push_back(tree[at].repeat);
  }
  std::reverse(repeats.begin(), repeats.end());
  return repeats;
}

}  // namespace

std::optional<InstanceNames> instance_names(const std::vector<std::string_view>& names,
                                            const std::vector<int64_t>& repeats) {
  size_t count = 1;
  for (const int64_t repeat : repeats) {
    if (repeat < 1 || count > names.size()) return std::nullopt;
    count *= static_cast<size_t>(repeat);
  }
  if (count != names.size() || names.empty()) return std::nullopt;
  const SplitName first = split(names.front());
  const std::vector<size_t> strides = strides_of(repeats);
  InstanceNames rule;
  rule.parts.assign(first.parts.begin(), first.parts.end());
  for (const int64_t number : first.numbers) rule.numbers.push_back({number});
  for (size_t level = 0; level < repeats.size(); ++level) {
    const SplitName next = repeats[level] > 1 ? split(names[strides[level]]) : first;
    if (next.parts != first.parts) return std::nullopt;
    for (size_t i = 0; i < rule.numbers.size(); ++i) {
      rule.numbers[i].push_back(next.numbers[i] - first.numbers[i]);
    }
  }
  for (size_t instance = 0; instance < names.size(); ++instance) {
    if (!is_called(names[instance], rule, strides, repeats, instance)) return std::nullopt;
  }
  return rule;
}

void write_instance_names(const ModuleTree& tree, ModuleId module,
                          const std::vector<std::string_view>& names, JsonWriter& json) {
  if (names.size() < 2) return;
  const std::optional<InstanceNames> rule = instance_names(names, repeats_around(tree, module));
  if (!rule && names.size() > kMostListed) return;
  json.key("instance_names").begin_object();
  if (!rule) {
    json.key("list").begin_array();
    for (const std::string_view name : names) json.text(name);
    json.end_array().end_object();
    return;
  }
  json.key("parts").begin_array();
  for (const std::string& part : rule->parts) json.text(part);
  json.end_array().key("numbers").begin_array();
  for (const std::vector<int64_t>& number : rule->numbers) {
    json.begin_array();
    for (const int64_t step : number) json.integer(step);
    json.end_array();
  }
  json.end_array().end_object();
}

}  // namespace kcharter
