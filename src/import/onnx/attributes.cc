#include "import/onnx/attributes.h"

#include "import/onnx/literal.h"

namespace kcharter {
namespace {

// Longer texts are compiled models and the like (EPContext), not settings.
constexpr size_t kMaxTextBytes = 64 * 1024;

// AttributeProto.AttributeType. Files of the first IR versions do not say it.
enum AttributeType : int64_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
};

int64_t type_of(const AttributeView& view) {
  if (view.type != kUndefined) return view.type;
  if (view.number) return kFloat;
  if (view.integer) return kInt;
  if (view.text) return kString;
  if (view.tensor) return kTensor;
  if (!view.numbers.empty()) return kFloats;
  if (!view.integers.empty()) return kInts;
  if (!view.texts.empty()) return kStrings;
  return kUndefined;
}

}  // namespace

std::vector<AttributeView> read_attributes(const NodeView& node,
                                           const AttributeBindings* bindings) {
  std::vector<AttributeView> attributes;
  attributes.reserve(node.attributes.size());
  for (const FileBytes bytes : node.attributes) {
    AttributeView view = read_attribute(bytes);
    if (!view.reference.empty()) {
      if (bindings == nullptr) continue;
      const auto bound = bindings->find(view.reference);
      if (bound == bindings->end()) continue;
      const std::string_view name = view.name;
      view = bound->second;
      view.name = name;
    }
    attributes.push_back(std::move(view));
  }
  return attributes;
}

Attribute convert_attribute(const AttributeView& view) {
  Attribute attribute{.name = std::string(view.name), .value = {}};
  switch (type_of(view)) {
    case kFloat:
      attribute.value = static_cast<double>(view.number.value_or(0));
      break;
    case kInt:
      attribute.value = view.integer.value_or(0);
      break;
    case kString:
      if (view.text.value_or("").size() <= kMaxTextBytes) {
        attribute.value = std::string(view.text.value_or(""));
      }
      break;
    case kTensor:
      if (view.tensor) {
        if (std::optional<Literal> literal =
                read_literal(read_tensor(*view.tensor), *view.tensor)) {
          attribute.value = *std::move(literal);
        }
      }
      break;
    case kFloats:
      attribute.value = std::vector<double>(view.numbers.begin(), view.numbers.end());
      break;
    case kInts:
      attribute.value = view.integers;
      break;
    case kStrings:
      attribute.value = std::vector<std::string>(view.texts.begin(), view.texts.end());
      break;
    default:
      break;
  }
  return attribute;
}

const AttributeView* find_attribute(const std::vector<AttributeView>& attributes,
                                    std::string_view name) {
  for (const AttributeView& attribute : attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

}  // namespace kcharter
