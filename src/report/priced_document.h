// A document read back from its JSON, each node with its cost at one setting on one device. For
// the writers of other programs' formats.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/estimate/device.h"
#include "kcharter/estimate/quantity.h"
#include "kcharter/estimate/time.h"

namespace kcharter {

// The names of all that a folded node or value stands for; see instance_names in schemas/README.md.
struct NameRule {
  std::vector<std::string> parts;
  std::vector<std::vector<int64_t>> numbers;
  std::vector<std::string> list;  // where they follow no rule
};

struct PricedValue {
  std::string name;
  NameRule names;
  std::string type;          // "[8, 1, 2048] bf16", "?" for an unknown dimension
  std::optional<Int> bytes;  // of one instance
  bool is_activation = false;
};

struct PricedNode {
  std::string name;
  std::string op_type;
  NameRule names;
  size_t module = 0;
  int64_t multiplicity = 1;
  std::vector<size_t> outputs;                         // values
  std::array<std::optional<Int>, kMetricCount> costs;  // all instances; none: unknown
  Time time;                                           // all instances
};

struct PricedModule {
  std::string name;
  std::string path;
  std::optional<size_t> parent;
  std::vector<std::pair<bool, size_t>> items;  // (is a module, index), in the order of execution
  std::vector<std::string> instances;
  int64_t repeat = 1;
};

struct PricedDocument {
  std::string name;
  std::string format;
  std::string mode;
  Bindings values;
  std::vector<PricedModule> modules;
  std::vector<PricedNode> nodes;
  std::vector<PricedValue> list_of_values;
  double seconds = 0;  // of the whole step
};

// Throws Error as export_document does.
PricedDocument price_document(std::string_view document, const Device& device, const Bindings& set);

// How often each stage above and at `module` runs, outermost first.
std::vector<int64_t> repeats_above(const PricedDocument& document, size_t module);

// Calls `each` with the name of every instance of what `name` and `rule` name, in the order of
// execution, as far as they are known: the first one's alone where nothing says what the rest are
// called.
void for_each_name(const std::string& name, const NameRule& rule,
                   const std::vector<int64_t>& repeats,
                   const std::function<void(const std::string&)>& each);

}  // namespace kcharter
