#include "kcharter/model/graph.h"

namespace kcharter {
namespace {

template <typename T>
const T* typed_attribute(const Node& node, std::string_view name) {
  const Attribute* attribute = find_attribute(node, name);
  return attribute != nullptr ? std::get_if<T>(&attribute->value) : nullptr;
}

}  // namespace

std::string_view name(ScopeSource source) {
  switch (source) {
    case ScopeSource::kNone:
      return "none";
    case ScopeSource::kMetadata:
      return "metadata";
    case ScopeSource::kFunction:
      return "function";
    case ScopeSource::kNodeName:
      return "node_name";
    case ScopeSource::kWeightName:
      return "weight_name";
    case ScopeSource::kValueName:
      return "value_name";
    case ScopeSource::kStructure:
      return "structure";
  }
  return "none";
}

std::string_view name(TensorRole role) {
  switch (role) {
    case TensorRole::kParameter:
      return "parameter";
    case TensorRole::kBuffer:
      return "buffer";
    case TensorRole::kConstant:
      return "constant";
  }
  return "parameter";
}

std::string_view name(TensorPart part) {
  switch (part) {
    case TensorPart::kPlain:
      return "plain";
    case TensorPart::kPayload:
      return "payload";
    case TensorPart::kScale:
      return "scale";
    case TensorPart::kZeroPoint:
      return "zero_point";
    case TensorPart::kMetadata:
      return "metadata";
  }
  return "plain";
}

std::string_view name(CacheKind kind) {
  switch (kind) {
    case CacheKind::kKeyValue: return "key_value";
    case CacheKind::kCrossKeyValue: return "cross_key_value";
    case CacheKind::kState: return "state";
  }
  return "key_value";
}

const Attribute* find_attribute(const Node& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

int64_t int_attribute(const Node& node, std::string_view name, int64_t fallback) {
  const int64_t* value = typed_attribute<int64_t>(node, name);
  return value != nullptr ? *value : fallback;
}

double float_attribute(const Node& node, std::string_view name, double fallback) {
  const double* value = typed_attribute<double>(node, name);
  return value != nullptr ? *value : fallback;
}

std::string string_attribute(const Node& node, std::string_view name, std::string_view fallback) {
  const std::string* value = typed_attribute<std::string>(node, name);
  return value != nullptr ? *value : std::string(fallback);
}

const std::vector<int64_t>* ints_attribute(const Node& node, std::string_view name) {
  return typed_attribute<std::vector<int64_t>>(node, name);
}

}  // namespace kcharter
