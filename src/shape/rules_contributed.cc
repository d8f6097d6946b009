// Operators of other people's domains that real files hold.
#include <string>

#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// torch's fallback names the operator in an attribute. Those that exporters leave behind.
void aten(NodeInference& node) {
  const std::string name = string_attribute(node.node, "operator", "");
  if (name == "embedding") {
    const Shape* indices = node.input_shape(1);
    if (indices == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
    Shape result = *indices;
    result.push_back(node.input_dim(0, 1));
    return node.set(0, node.input_dtype(0), std::move(result));
  }
  if (name == "embedding_backward") {
    return node.set(0, node.input_dtype(0), Shape{integer(node.scalar(2)), node.input_dim(0, -1)});
  }
}

constexpr ShapeRuleEntry kEntries[] = {
    {"org.pytorch.aten", "ATen", aten},
    {kOnnx, "ATen", aten},
    {"onnx.brevitas", "Quant", same_as_first_input},
    {"onnx.brevitas", "BipolarQuant", same_as_first_input},
    {"onnx.brevitas", "Trunc", same_as_first_input},
    {"qonnx.custom_op.general", "Quant", same_as_first_input},
    {"qonnx.custom_op.general", "IntQuant", same_as_first_input},
    {"qonnx.custom_op.general", "FloatQuant", same_as_first_input},
    {"qonnx.custom_op.general", "BipolarQuant", same_as_first_input},
    {"qonnx.custom_op.general", "Trunc", same_as_first_input},
    {"qonnx.custom_op.general", "MultiThreshold", same_as_first_input},
    {"finn.custom_op.general", "Quant", same_as_first_input},
    {"ai.onnx.contrib", "FastGelu", same_as_first_input},
    {"ai.onnx.contrib", "MaskedFill", same_as_first_input},
    {"ai.onnx.contrib", "StringLower", same_as_first_input},
};

}  // namespace

ShapeRuleFamily contributed_shape_rules() { return kEntries; }

}  // namespace kcharter
