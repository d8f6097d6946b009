#include "estimate/scratch.h"

#include <string>

#include "estimate/node_cost.h"
#include "kcharter/model/domains.h"
#include "kcharter/ops/dims.h"
#include "kcharter/ops/operator.h"

namespace kcharter {
namespace {

// The tokens of an operand: [B, T, width], [B, heads, T, size].
Dim tokens_of(const Graph& graph, const Node& node, size_t input) {
  if (!has_input(node, input)) return Expr(0);
  const Shape* shape = input_shape(graph, node, input);
  if (shape == nullptr || shape->size() < 3) return std::nullopt;
  return (*shape)[shape->size() == 3 ? 1 : 2];
}

// Where the past keys stand, for those that attend to more than their input.
size_t past_input(const Graph& graph, const Node& node) {
  const std::string& op = node.op_type;
  if (node.domain == kMicrosoft) {
    return op == "GroupQueryAttention" ? 3 : (op == "DecoderMaskedMultiHeadAttention" ? 5 : 6);
  }
  if (op == "CrossAttention") return 3;
  if (op == "LatentAttention") {
    const ValueId last = node.inputs.back();
    const bool is_cache = last && graph[last].role == ValueRole::kCache;
    return is_cache ? node.inputs.size() - 1 : node.inputs.size();
  }
  return op == "Attention" ? 4 : node.inputs.size();
}

Dim heads_of(const Graph& graph, const Node& node) {
  const int64_t heads = int_attribute(node, "num_heads", int_attribute(node, "q_num_heads", 0));
  if (heads > 0) return Expr(heads);
  const Shape* shape = input_shape(graph, node, 0);
  return shape != nullptr && shape->size() == 4 ? (*shape)[1] : Dim();
}

DType result_dtype(const Graph& graph, const Node& node) {
  const bool has_result = !node.outputs.empty() && node.outputs[0];
  const DType result = has_result ? graph[node.outputs[0]].type.dtype : DType::kUnknown;
  return bits(result) > 0 ? result : compute_dtype(graph, node);
}

}  // namespace

Expr in_chunks(const Expr& formula, const EstimateOptions& options) {
  if (!options.prefill_in_chunks) return formula;
  const Expr length = Expr::variable(kCurrentLength);
  return formula.substitute(
      {{std::string(kCurrentLength), min(length, Expr::variable(kPrefillChunkLength))}});
}

std::optional<Expr> score_bytes(const Graph& graph, NodeId id, const EstimateOptions& options) {
  const Node& node = graph[id];
  const OperatorInfo* info = find_operator(node.domain, node.op_type);
  if (!options.scores_written || info == nullptr || !info->is_attention) return Expr(0);
  if (node.op_type == "SparseIndexer" || node.inputs.empty()) return Expr(0);
  Dim queries = tokens_of(graph, node, 0);
  if (queries) queries = in_chunks(*queries, options);
  const size_t key = has_input(node, 1) ? 1 : 0;  // packed: the keys are in the first operand
  const bool is_cross_decode = node.op_type == "CrossAttention" && !has_input(node, 1);
  Dim keys = is_cross_decode ? Dim(Expr(0)) : tokens_of(graph, node, key);
  keys = plus(keys, tokens_of(graph, node, past_input(graph, node)));
  const Dim scores =
      times(times(input_dim(graph, node, 0, 0), heads_of(graph, node)), times(queries, keys));
  if (!scores) return std::nullopt;
  return 2 * byte_size(*scores, compute_dtype(graph, node));
}

std::vector<DequantizedWeight> dequantized_weights(const Graph& graph, const Operands& operands,
                                                   NodeId id, const EstimateOptions& options) {
  std::vector<DequantizedWeight> weights;
  if (!options.weights_dequantized) return weights;
  const Node& node = graph[id];
  const int64_t experts = int_attribute(node, "num_experts", 1);
  const bool is_stacked = int_attribute(node, "stacked", 0) != 0;
  for (const ValueId input : node.inputs) {
    if (!input || !operands.constant[input.index]) continue;
    for (const InitializerId stored : source_of_constant(graph, input).stored) {
      const Initializer& tensor = graph[stored];
      if (tensor.part != TensorPart::kPayload) continue;
      Int elements = 1;
      for (const int64_t dim : tensor.dims) elements = checked_mul(elements, dim);
      if (tensor.logical_elements) elements = *tensor.logical_elements;
      if (is_stacked && experts > 1) elements /= experts;
      weights.push_back({stored, byte_size(Expr(elements), result_dtype(graph, node))});
      if (experts > 1) return weights;  // they are alike
    }
  }
  return weights;
}

std::optional<Expr> scratch_bytes(const Graph& graph, const Operands& operands, NodeId node,
                                  const EstimateOptions& options) {
  if (operands.costs_nothing(node)) return Expr(0);
  try {
    std::optional<Expr> bytes = score_bytes(graph, node, options);
    if (!bytes) return std::nullopt;
    for (const DequantizedWeight& weight : dequantized_weights(graph, operands, node, options)) {
      *bytes += weight.bytes;
    }
    return bytes;
  } catch (const ArithmeticError&) {
    return std::nullopt;
  }
}

}  // namespace kcharter
