// What the nodes that a folded template stands for are called, as one rule: the numbers in their
// names count with the instances. "/layers.0/mlp/MatMul_7", "/layers.1/mlp/MatMul_27" … are
//
//   parts "/layers." "/mlp/MatMul_" ""   numbers {0, 1} {7, 20}
//
// A rule of bounded size whatever the number of instances.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kcharter/structure/module_tree.h"
#include "report/json_writer.h"

namespace kcharter {

struct InstanceNames {
  std::vector<std::string> parts;  // before, between and behind the numbers
  // Of each number: its value in the first instance, then what one instance more adds at each level
  // of stages, outermost first.
  std::vector<std::vector<int64_t>> numbers;
};

// `names` in order of instances, the innermost level first; their count is the product of `repeats`
// (outermost first). nullopt where the names follow no such rule.
std::optional<InstanceNames> instance_names(const std::vector<std::string_view>& names,
                                            const std::vector<int64_t>& repeats);

// The member "instance_names" of a template that stands for those `names` in `module`; none where it
// stands for itself alone, or for many whose names follow no rule.
void write_instance_names(const ModuleTree& tree, ModuleId module,
                          const std::vector<std::string_view>& names, JsonWriter& json);

}  // namespace kcharter
