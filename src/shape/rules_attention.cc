// Attention and linear attention of ONNX, and rotary embedding.
#include <algorithm>
#include <string>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

// One of query, key and value in the 3-D form [batch, tokens, heads·size] or the 4-D one.
struct Operand {
  Dim batch, heads, tokens, size;
};

std::optional<Operand> operand(const NodeInference& node, size_t input, int64_t heads) {
  const Shape* shape = node.input_shape(input);
  if (shape == nullptr) return std::nullopt;
  if (shape->size() == 4) return Operand{(*shape)[0], (*shape)[1], (*shape)[2], (*shape)[3]};
  if (shape->size() != 3) throw Error("an operand of rank " + std::to_string(shape->size()));
  Operand result{(*shape)[0], std::nullopt, (*shape)[1], std::nullopt};
  if (heads > 0) {
    result.heads = Expr(heads);
    result.size = floor_divided((*shape)[2], heads);
  }
  return result;
}

// Q, K, V, attn_mask, past_key, past_value → Y, present_key, present_value, qk_matmul_output.
void attention(NodeInference& node) {
  const DType dtype = node.input_dtype(0);
  const auto q = operand(node, 0, int_attribute(node.node, "q_num_heads", 0));
  const auto k = operand(node, 1, int_attribute(node.node, "kv_num_heads", 0));
  const auto v = operand(node, 2, int_attribute(node.node, "kv_num_heads", 0));
  if (!q || !k || !v) {
    for (size_t i = 0; i < node.output_count(); ++i) node.set(i, dtype, std::nullopt);
    return;
  }
  Dim total = k->tokens;
  if (node.has_input(4)) total = plus(node.input_dim(4, 2), total);
  if (node.input_rank(0) == 3) {
    node.set(0, dtype, Shape{q->batch, q->tokens, times(q->heads, v->size)});
  } else {
    node.set(0, dtype, Shape{q->batch, q->heads, q->tokens, v->size});
  }
  node.set(1, first_dtype(node, {4, 1}), Shape{k->batch, k->heads, total, k->size});
  node.set(2, first_dtype(node, {5, 2}), Shape{v->batch, v->heads, total, v->size});
  node.set(3, dtype, Shape{q->batch, q->heads, q->tokens, total});
}

// Q, K, V of rank 4.
void flex_attention(NodeInference& node) {
  node.set(0, node.input_dtype(0),
           Shape{node.input_dim(0, 0), node.input_dim(0, 1), node.input_dim(0, 2),
                 node.input_dim(2, 3)});
}

// query, key, value in 3-D, past_state, decay, beta → output, present_state [batch, heads, key,
// value]. Queries may share heads of the state, or heads of the state share a query (Qwen3-Next).
void linear_attention(NodeInference& node) {
  const int64_t q_heads = int_attribute(node.node, "q_num_heads", 0);
  const int64_t kv_heads = int_attribute(node.node, "kv_num_heads", 0);
  const DType dtype = node.input_dtype(0);
  if (q_heads < 1 || kv_heads < 1) throw Error("the number of heads is missing");
  const Dim value_size = floor_divided(node.input_dim(2, 2), kv_heads);
  node.set(0, dtype,
           Shape{node.input_dim(0, 0), node.input_dim(0, 1),
                 times(value_size, Expr(std::max(q_heads, kv_heads)))});
  if (node.has_input(3) && node.input_shape(3) != nullptr) return node.set(1, node.input(3));
  node.set(1, first_dtype(node, {3, 0}),
           Shape{node.input_dim(0, 0), Expr(kv_heads), floor_divided(node.input_dim(0, 2), q_heads),
                 value_size});
}

// input [batch, channels, tokens], weight [channels, 1, k], bias, past_state → output and the last
// k − 1 positions.
void causal_convolution(NodeInference& node) {
  node.set(0, node.input(0));
  node.set(
      1, node.input_dtype(0),
      Shape{node.input_dim(0, 0), node.input_dim(0, 1), minus(node.input_dim(1, -1), Expr(1))});
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "Attention", attention},
    {kOnnx, "CausalConvWithState", causal_convolution},
    {kOnnx, "LinearAttention", linear_attention},
    {kOnnx, "RotaryEmbedding", same_as_first_input},
    {"ai.onnx.preview", "FlexAttention", flex_attention},
    {kMicrosoft, "CausalConvWithState", causal_convolution},
    {kMicrosoft, "LinearAttention", linear_attention},
    {kMicrosoft, "RotaryEmbedding", same_as_first_input},
};

}  // namespace

ShapeRuleFamily attention_shape_rules() { return kEntries; }

}  // namespace kcharter
