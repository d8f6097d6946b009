// Matrix products, plain, fused, integer and quantized in blocks, and Einsum.
#include <algorithm>
#include <map>
#include <string>

#include "kcharter/ops/dims.h"
#include "shape/dim_rules.h"
#include "shape/rule_table.h"

namespace kcharter {
namespace {

std::optional<Shape> transposed(const Shape* shape, bool transpose) {
  if (shape == nullptr) return std::nullopt;
  Shape result = *shape;
  if (transpose && result.size() > 1)
    std::swap(result[result.size() - 1], result[result.size() - 2]);
  return result;
}

// numpy's matmul: vectors gain an axis that the result loses again.
std::optional<Shape> product_shape(const NodeInference& node, std::optional<Shape> a,
                                   std::optional<Shape> b) {
  if (!a || !b) return std::nullopt;
  if (a->empty() || b->empty()) throw Error("a matrix product of a scalar");
  const bool vector_a = a->size() == 1;
  const bool vector_b = b->size() == 1;
  if (vector_a) a->insert(a->begin(), Expr(1));
  if (vector_b) b->push_back(Expr(1));
  check_same(node, a->back(), (*b)[b->size() - 2], "inner dimensions");
  const Shape batch_a(a->begin(), a->end() - 2);
  const Shape batch_b(b->begin(), b->end() - 2);
  Shape result = *broadcast(node, &batch_a, &batch_b);
  if (!vector_a) result.push_back((*a)[a->size() - 2]);
  if (!vector_b) result.push_back(b->back());
  return result;
}

std::optional<Shape> product_of_inputs(const NodeInference& node, size_t a, size_t b) {
  return product_shape(node, transposed(node.input_shape(a), false),
                       transposed(node.input_shape(b), false));
}

void matmul(NodeInference& node) {
  node.set(0, first_dtype(node, {0, 1}), product_of_inputs(node, 0, 1));
}

void matmul_integer(NodeInference& node) {
  node.set(0, DType::kInt32, product_of_inputs(node, 0, 1));
}

void matmul_integer_to_float(NodeInference& node) {
  node.set(0, first_dtype(node, {2, 3}), product_of_inputs(node, 0, 1));
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void qlinear_matmul(NodeInference& node) {
  node.set(0, first_dtype(node, {7, 0}), product_of_inputs(node, 0, 3));
}

// transBatchA moves the first axis behind the last batch axis before the product.
std::optional<Shape> fused_operand(const Shape* shape, bool transpose, bool transpose_batch) {
  auto result = transposed(shape, false);
  if (result && transpose_batch && result->size() > 2) {
    std::rotate(result->begin(), result->begin() + 1, result->end() - 1);
  }
  if (!result) return result;
  return transposed(&*result, transpose);
}

void fused_matmul(NodeInference& node) {
  const auto flag = [&](std::string_view name) { return int_attribute(node.node, name, 0) != 0; };
  node.set(
      0, first_dtype(node, {0, 1}),
      product_shape(node, fused_operand(node.input_shape(0), flag("transA"), flag("transBatchA")),
                    fused_operand(node.input_shape(1), flag("transB"), flag("transBatchB"))));
}

void gemm(NodeInference& node) {
  const auto a = transposed(node.input_shape(0), int_attribute(node.node, "transA", 0) != 0);
  const auto b = transposed(node.input_shape(1), int_attribute(node.node, "transB", 0) != 0);
  if ((a && a->size() != 2) || (b && b->size() != 2)) throw Error("Gemm takes matrices");
  Shape result(2);
  if (a) result[0] = (*a)[0];
  if (b) result[1] = (*b)[1];
  if (a && b) check_same(node, (*a)[1], (*b)[0], "inner dimensions");
  const int64_t asked = int_attribute(node.node, "dtype", 0);
  node.set(0, asked > 0 ? dtype_of_onnx(asked) : node.input_dtype(0), std::move(result));
}

// A product with the whole weight: [..., K] × [N, K] → [..., N], sizes from the attributes.
void block_quantized_matmul(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr || shape->empty()) return node.set(0, node.input_dtype(0), std::nullopt);
  Shape result = *shape;
  const int64_t rows = int_attribute(node.node, "N", 0);
  const int64_t inner = int_attribute(node.node, "K", 0);
  if (inner > 0) check_same(node, result.back(), Expr(inner), "inner dimensions");
  result.back() = rows > 0 ? Dim(Expr(rows)) : std::nullopt;
  node.set(0, node.input_dtype(0), std::move(result));
}

void determinant(NodeInference& node) {
  const Shape* shape = node.input_shape(0);
  if (shape == nullptr || shape->size() < 2) return node.set(0, node.input_dtype(0), std::nullopt);
  node.set(0, node.input_dtype(0), Shape(shape->begin(), shape->end() - 2));
}

// One operand's subscripts, "..." as one '.' character.
std::string subscripts(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      result += '.';
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

struct EinsumDims {
  std::map<char, Dim> letters;
  std::map<char, int> uses;
  Shape ellipsis;
};

void read_operand(const NodeInference& node, const std::string& letters, const Shape& shape,
                  EinsumDims& dims) {
  const bool open = letters.find('.') != std::string::npos;
  const size_t named = letters.size() - (open ? 1 : 0);
  if (shape.size() < named || (!open && shape.size() != named)) {
    throw Error("subscripts '" + letters + "' for a tensor of rank " +
                std::to_string(shape.size()));
  }
  size_t axis = 0;
  for (const char letter : letters) {
    if (letter == '.') {
      const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(axis);
      const Shape hidden(begin, begin + static_cast<std::ptrdiff_t>(shape.size() - named));
      dims.ellipsis = *broadcast(node, &dims.ellipsis, &hidden);
      axis += hidden.size();
      continue;
    }
    ++dims.uses[letter];
    const auto [at, is_new] = dims.letters.emplace(letter, shape[axis]);
    if (!is_new) at->second = broadcast(node, at->second, shape[axis]);
    ++axis;
  }
}

void einsum(NodeInference& node) {
  const std::string equation = subscripts(string_attribute(node.node, "equation", ""));
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  EinsumDims dims;
  size_t begin = 0;
  for (size_t i = 0; i < node.input_count(); ++i) {
    const size_t end = std::min(left.find(',', begin), left.size());
    const Shape* shape = node.input_shape(i);
    if (shape == nullptr) return node.set(0, node.input_dtype(0), std::nullopt);
    read_operand(node, left.substr(begin, end - begin), *shape, dims);
    begin = std::min(end + 1, left.size());
  }
  std::string output;
  if (arrow != std::string::npos) {
    output = equation.substr(arrow + 2);
  } else {
    // Without an arrow: the ellipsis and every letter used once, in order.
    output = ".";
    for (const auto& [letter, uses] : dims.uses) {
      if (uses == 1) output += letter;
    }
  }
  Shape result;
  for (const char letter : output) {
    if (letter == '.')
      result.insert(result.end(), dims.ellipsis.begin(), dims.ellipsis.end());
    else if (dims.letters.contains(letter))
      result.push_back(dims.letters[letter]);
    else
      throw Error(std::string("output subscript '") + letter + "' is on no input");
  }
  node.set(0, node.input_dtype(0), std::move(result));
}

constexpr ShapeRuleEntry kEntries[] = {
    {kOnnx, "Det", determinant},
    {kOnnx, "Einsum", einsum},
    {kOnnx, "Gemm", gemm},
    {kOnnx, "MatMul", matmul},
    {kOnnx, "MatMulInteger", matmul_integer},
    {kOnnx, "QLinearMatMul", qlinear_matmul},
    {kMicrosoft, "DynamicQuantizeMatMul", matmul},
    {kMicrosoft, "FusedGemm", gemm},
    {kMicrosoft, "FusedMatMul", fused_matmul},
    {kMicrosoft, "GemmFastGelu", matmul},
    {kMicrosoft, "GemmFloat8", gemm},
    {kMicrosoft, "MatMulBnb4", block_quantized_matmul},
    {kMicrosoft, "MatMulFpQ4", matmul},
    {kMicrosoft, "MatMulInteger16", matmul_integer},
    {kMicrosoft, "MatMulIntegerToFloat", matmul_integer_to_float},
    {kMicrosoft, "MatMulNBits", block_quantized_matmul},
    {kMicrosoft, "SparseToDenseMatMul", fused_matmul},
    {kMicrosoft, "TransposeMatMul", fused_matmul},
};

}  // namespace

ShapeRuleFamily linear_algebra_shape_rules() { return kEntries; }

}  // namespace kcharter
