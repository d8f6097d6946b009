// Matrix products: 2 per multiply-add, over every broadcast batch.
#include "ops/common_work.h"
#include "ops/einsum.h"

namespace kcharter {
namespace {

// Each output element is a sum over the last axis of A (`transposed`: the one before it), for every
// rank and broadcast of numpy.matmul. B is asked where A's axis is not known.
Work product_work(const Graph& graph, const Node& node, size_t a, size_t b, bool transpose_a,
                  bool transpose_b) {
  const Shape* left = input_shape(graph, node, a);
  const Shape* right = input_shape(graph, node, b);
  bool vector_left = left != nullptr && left->size() == 1;
  bool vector_right = right != nullptr && right->size() == 1;
  Dim inner = input_dim(graph, node, a, transpose_a && !vector_left ? -2 : -1);
  if (!inner) inner = input_dim(graph, node, b, transpose_b || vector_right ? -1 : -2);
  return {.flops = times(times(Expr(2), inner), output_elements(graph, node))};
}

Work matmul_work(const Graph& graph, const Node& node) {
  return product_work(graph, node, 0, 1, false, false);
}

Work fused_matmul_work(const Graph& graph, const Node& node) {
  return product_work(graph, node, 0, 1, int_attribute(node, "transA", 0) != 0,
                      int_attribute(node, "transB", 0) != 0);
}

Work gemm_work(const Graph& graph, const Node& node) {
  Work work = fused_matmul_work(graph, node);
  if (has_input(node, 2)) work.elementwise_flops = output_elements(graph, node);
  return work;
}

// The bias and a nine-operation tanh gelu on every output element.
Work gemm_fast_gelu_work(const Graph& graph, const Node& node) {
  Work work = matmul_work(graph, node);
  work.elementwise_flops = times(Expr(has_input(node, 2) ? 10 : 9), output_elements(graph, node));
  return work;
}

Work qlinear_matmul_work(const Graph& graph, const Node& node) {
  Work work = product_work(graph, node, 0, 3, false, false);
  work.elementwise_flops = times(Expr(2), output_elements(graph, node));  // rescale, round
  return work;
}

Work qgemm_work(const Graph& graph, const Node& node) {
  Work work = product_work(graph, node, 0, 3, int_attribute(node, "transA", 0) != 0,
                           int_attribute(node, "transB", 0) != 0);
  work.elementwise_flops = times(Expr(has_input(node, 6) ? 3 : 2), output_elements(graph, node));
  return work;
}

// Integer product, then one scale (and one bias) per output element.
Work matmul_to_float_work(const Graph& graph, const Node& node) {
  Work work = matmul_work(graph, node);
  work.elementwise_flops = times(Expr(2), output_elements(graph, node));
  return work;
}

// A with its scale, B with its scale, the scale of Y, then a bias and a sum with its scale.
Work qordered_matmul_work(const Graph& graph, const Node& node) {
  Work work = product_work(graph, node, 0, 2, false, false);
  int64_t operations = 2 + (has_input(node, 5) ? 1 : 0) + (has_input(node, 6) ? 2 : 0);
  work.elementwise_flops = times(Expr(operations), output_elements(graph, node));
  return work;
}

// Gauss-Jordan: N³ multiply-adds for a matrix of order N.
Work inverse_work(const Graph& graph, const Node& node) {
  return {.elementwise_flops =
              times(times(Expr(2), input_elements(graph, node, 0)), input_dim(graph, node, 0, -1))};
}

// N³/3 multiply-adds of an LU decomposition per matrix of order N, rounded to N³ operations.
Work det_work(const Graph& graph, const Node& node) {
  return {.elementwise_flops =
              times(input_elements(graph, node, 0), input_dim(graph, node, 0, -1))};
}

TensorPart integer_part(const Node&, size_t input) {
  return part_at(
      "pp"
      "zz",
      input);
}
TensorPart qlinear_part(const Node&, size_t input) { return part_at("pszpszsz", input); }
TensorPart qordered_part(const Node&, size_t input) { return part_at("psps..ps", input); }
TensorPart qgemm_part(const Node&, size_t input) { return part_at("pszpsz.sz", input); }
TensorPart to_float_part(const Node&, size_t input) { return part_at("ppsszz.", input); }
TensorPart dynamic_part(const Node&, size_t input) { return part_at(".psz.", input); }

}  // namespace

OperatorFamily linear_algebra_operators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "MatMul", {.work = matmul_work}},
      {kOnnx, "Gemm", {.work = gemm_work}},
      {kOnnx, "Einsum", {.work = einsum_work}},
      {kOnnx, "Det", {.work = det_work}},
      {kOnnx, "MatMulInteger", {.work = matmul_work, .tensor_part = integer_part}},
      {kOnnx, "QLinearMatMul", {.work = qlinear_matmul_work, .tensor_part = qlinear_part}},
      {kMicrosoft, "FusedMatMul", {.work = fused_matmul_work}},
      {kMicrosoft, "TransposeMatMul", {.work = fused_matmul_work}},
      {kMicrosoft, "FusedMatMulActivation", {.work = fused_matmul_work}},
      {kMicrosoft, "FusedGemm", {.work = gemm_work}},
      {kMicrosoft, "GemmFloat8", {.work = gemm_work}},
      {kMicrosoft, "GemmFastGelu", {.work = gemm_fast_gelu_work}},
      {kMicrosoft, "SparseToDenseMatMul", {.work = fused_matmul_work}},
      {kMicrosoft, "QOrderedMatMul", {.work = qordered_matmul_work, .tensor_part = qordered_part}},
      {kMicrosoft, "Inverse", {.work = inverse_work}},
      {kMicrosoft, "MatMulInteger16", {.work = matmul_work}},
      {kMicrosoft,
       "MatMulIntegerToFloat",
       {.work = matmul_to_float_work, .tensor_part = to_float_part}},
      {kMicrosoft,
       "DynamicQuantizeMatMul",
       {.work = matmul_to_float_work, .tensor_part = dynamic_part}},
      {kMicrosoft, "QGemm", {.work = qgemm_work, .tensor_part = qgemm_part}},
  };
  return kEntries;
}

}  // namespace kcharter
