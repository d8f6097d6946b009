// The table of shape rules, one family a file: src/shape/rules_<family>.cc holds its entries and
// the rules only they use. A new family is one line here and one in kFamilies (rule_table.cc).
//
//   if (ShapeRule rule = find_shape_rule(node.domain, node.op_type)) rule(node_inference);
#pragma once

#include <span>
#include <string_view>

#include "kcharter/model/domains.h"
#include "shape/inference.h"

namespace kcharter {

struct ShapeRuleEntry {
  std::string_view domain;
  std::string_view op_type;
  ShapeRule rule;
};
using ShapeRuleFamily = std::span<const ShapeRuleEntry>;

ShapeRuleFamily elementwise_shape_rules();
ShapeRuleFamily layout_shape_rules();
ShapeRuleFamily indexing_shape_rules();
ShapeRuleFamily generator_shape_rules();
ShapeRuleFamily reduction_shape_rules();
ShapeRuleFamily linear_algebra_shape_rules();
ShapeRuleFamily convolution_shape_rules();
ShapeRuleFamily image_shape_rules();
ShapeRuleFamily normalization_shape_rules();
ShapeRuleFamily attention_shape_rules();
ShapeRuleFamily recurrent_shape_rules();
ShapeRuleFamily quantization_shape_rules();
ShapeRuleFamily sequence_shape_rules();
ShapeRuleFamily microsoft_attention_shape_rules();
ShapeRuleFamily microsoft_shape_rules();
ShapeRuleFamily ml_shape_rules();
ShapeRuleFamily contributed_shape_rules();
ShapeRuleFamily kcharter_shape_rules();

// nullptr: none of ours. "ai.onnx" is "".
ShapeRule find_shape_rule(std::string_view domain, std::string_view op_type);

}  // namespace kcharter
