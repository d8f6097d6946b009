#include "shape/rule_table.h"

#include <string>
#include <unordered_map>

namespace kcharter {
namespace {

constexpr ShapeRuleFamily (*kFamilies[])() = {
    elementwise_shape_rules,   layout_shape_rules,
    indexing_shape_rules,      generator_shape_rules,
    reduction_shape_rules,     linear_algebra_shape_rules,
    convolution_shape_rules,   image_shape_rules,
    normalization_shape_rules, attention_shape_rules,
    recurrent_shape_rules,     quantization_shape_rules,
    sequence_shape_rules,      microsoft_attention_shape_rules,
    microsoft_shape_rules,     ml_shape_rules,
    contributed_shape_rules,   kcharter_shape_rules,
};

std::string key(std::string_view domain, std::string_view op_type) {
  std::string result(domain == "ai.onnx" ? "" : domain);
  result += ':';
  result += op_type;
  return result;
}

std::unordered_map<std::string, ShapeRule> build_table() {
  std::unordered_map<std::string, ShapeRule> table;
  for (const auto family : kFamilies) {
    for (const ShapeRuleEntry& entry : family()) {
      table.emplace(key(entry.domain, entry.op_type), entry.rule);
    }
  }
  return table;
}

}  // namespace

ShapeRule find_shape_rule(std::string_view domain, std::string_view op_type) {
  static const std::unordered_map<std::string, ShapeRule> table = build_table();
  const auto found = table.find(key(domain, op_type));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace kcharter
