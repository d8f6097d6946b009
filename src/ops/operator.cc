#include "kcharter/ops/operator.h"

#include <functional>
#include <unordered_map>

#include "ops/registry.h"

namespace kcharter {
namespace {

constexpr OperatorFamily (*kFamilies[])() = {
    arithmetic_operators,    linear_algebra_operators, convolution_operators,  pooling_operators,
    normalization_operators, attention_operators,      quantization_operators, expert_operators,
    movement_operators,      reduction_operators,      recurrent_operators,    classical_operators,
    training_operators,
    kcharter_basic_operators,
    kcharter_attention_operators,
    kcharter_compressed_operators,
    kcharter_expert_operators,
    kcharter_quantized_operators,
    kcharter_recurrent_operators,
};

struct Key {
  std::string_view domain;
  std::string_view op_type;
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    std::hash<std::string_view> hash;
    return hash(key.op_type) * 31 + hash(key.domain);
  }
};

using Table = std::unordered_map<Key, const OperatorInfo*, KeyHash>;

Table make_table() {
  Table table;
  for (auto family : kFamilies) {
    for (const OperatorEntry& entry : family()) {
      table.emplace(Key{entry.domain, entry.op_type}, &entry.info);
    }
  }
  return table;
}

}  // namespace

const OperatorInfo* find_operator(std::string_view domain, std::string_view op_type) {
  static const Table table = make_table();
  if (domain == "ai.onnx") domain = "";
  auto found = table.find(Key{domain, op_type});
  return found == table.end() ? nullptr : found->second;
}

std::optional<int64_t> logical_elements(const Graph& graph, const Node& node, size_t input) {
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  if (info == nullptr || info->logical_elements == nullptr) return std::nullopt;
  return info->logical_elements(graph, node, input);
}

TensorPart tensor_part(const Node& node, size_t input) {
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  if (info == nullptr || info->tensor_part == nullptr) return TensorPart::kPlain;
  return info->tensor_part(node, input);
}

}  // namespace kcharter
