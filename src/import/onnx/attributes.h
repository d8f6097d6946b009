// Attributes of a node, those of a function's body that stand for attributes of its call included.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/onnx/model_view.h"
#include "kcharter/model/graph.h"

namespace kcharter {

// What the attributes of a function are at one call: by name, those given and those by default.
using AttributeBindings = std::unordered_map<std::string_view, AttributeView>;

// The node's attributes; one that stands for an attribute of the call takes its value, or is left
// out where the call does not give it. `bindings` is null outside functions.
std::vector<AttributeView> read_attributes(const NodeView& node, const AttributeBindings* bindings);

// Graphs, large tensors and long texts are kept by name only.
Attribute convert_attribute(const AttributeView& view);

const AttributeView* find_attribute(const std::vector<AttributeView>& attributes,
                                    std::string_view name);

}  // namespace kcharter
