// Products with weights. By columns where the result is wanted in parts and the input is whole; by
// rows where the input comes in parts, which leaves a partial sum on each device. The first of two
// matrices in a row is split by columns, then, and the second by rows.
#include <algorithm>
#include <optional>

#include "estimate/parallel/layout_rules.h"

namespace kcharter {
namespace {

struct Product {
  size_t x = 0;
  std::vector<size_t> weights;  // parts of one matrix
  std::vector<size_t> biases;   // of one element a column
  bool transposed_x = false;
};

Product product_of(const Node& node) {
  const auto rest = [&](size_t first) {
    std::vector<size_t> parts;
    for (size_t i = first; i < node.inputs.size(); ++i) parts.push_back(i);
    return parts;
  };
  const std::string& op = node.op_type;
  if (op == "Gemm" || op == "FusedGemm") {
    return {0, {1}, {2}, int_attribute(node, "transA", 0) != 0};
  }
  if (op == "QuantizedMatMul") return {0, rest(1), {}, false};
  if (op == "MatMulNBits" || op == "MatMulBnb4") return {0, {1, 2, 3, 4}, {5}, false};
  if (op == "MatMulInteger") return {0, {1, 3}, {}, false};
  if (op == "DynamicQuantizeMatMul") return {0, {1, 2, 3}, {4}, false};
  if (op == "MatMulIntegerToFloat") return {0, {1, 3, 5}, {6}, false};
  if (op == "QLinearMatMul") return {0, {3, 4, 5}, {}, false};
  return {0, {1}, {}, op == "FusedMatMul" && int_attribute(node, "transA", 0) != 0};
}

ValueId input(const Node& node, size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : ValueId();
}

bool has_weight(const LayoutPass& pass, const Node& node, const Product& product) {
  return !product.weights.empty() && input(node, product.weights[0]) &&
         pass.is_constant(input(node, product.weights[0])) && !product.transposed_x;
}

// Scales of one number a column, a vector, do not depend on the rows; blocks of a matrix may be as many.
bool depends_on_rows(const Initializer& stored, int64_t columns) {
  const auto is_long = [](int64_t dim) { return dim > 1; };
  const auto longest = std::find_if(stored.dims.begin(), stored.dims.end(), is_long);
  if (longest == stored.dims.end()) return false;
  const bool is_vector = std::count_if(stored.dims.begin(), stored.dims.end(), is_long) == 1;
  return !is_vector || *longest != columns;
}

void split_weights(LayoutPass& pass, const Node& node, const Product& product, Layout layout,
                   bool by_rows, int64_t columns) {
  layout.axis = 0;
  for (const size_t index : product.weights) {
    const ValueId value = input(node, index);
    if (!value || !pass.is_constant(value)) continue;
    for (const InitializerId stored : source_of_constant(pass.graph, value).stored) {
      const Initializer& tensor = pass.graph[stored];
      const bool is_order = tensor.part == TensorPart::kMetadata;  // one number a row
      const bool is_number =
          tensor.dims.empty() || (tensor.dims.size() == 1 && tensor.dims[0] == 1);
      const bool is_cut = by_rows ? is_order || depends_on_rows(tensor, columns) : !is_order;
      pass.set_weight(stored, is_cut && !is_number ? layout : Layout{});
    }
  }
  for (const size_t index : product.biases) {
    pass.set_weight(input(node, index), by_rows ? Layout{} : layout);
  }
}

void want_product(LayoutPass& pass, const Node& node) {
  const Product product = product_of(node);
  const ValueId x = input(node, product.x);
  if (!has_weight(pass, node, product)) {
    pass.want_whole(node);
    return;
  }
  const Layout& out = pass.wanted(node.outputs[0]);
  if (is_split(out) && !is_split_last(pass, node.outputs[0], out)) {
    pass.want(x, out);
    return;
  }
  const bool takes_heads = is_split(out) && out.unit != SplitUnit::kElement;
  const int64_t rows = pass.size(x, -1);
  const bool by_rows = !takes_heads && rows > 1;
  pass.want(x, by_rows ? split_last(pass, x, {{rows, rows}}, SplitUnit::kElement) : Layout{});
}

void set_product(LayoutPass& pass, const Node& node) {
  const Product product = product_of(node);
  const ValueId x = input(node, product.x);
  const ValueId y = node.outputs[0];
  if (!has_weight(pass, node, product)) {
    pass.gather_all(node);
    return;
  }
  const Layout in = pass.of(x);
  const int64_t columns = pass.size(y, -1);
  if (is_split(in) && is_split_last(pass, x, in)) {
    split_weights(pass, node, product, in, true, columns);
    pass.set_work(node, in);
    pass.set(y, {.kind = LayoutKind::kPartial});
    return;
  }
  if (is_split(in)) {  // one matrix for all parts
    split_weights(pass, node, product, {}, false, columns);
    pass.set_work(node, in);
    pass.set(y, pass.rank(x) == pass.rank(y) ? in : Layout{});
    return;
  }
  pass.gather(x);
  const Layout out = pass.wanted(y);
  const bool by_columns = is_split_last(pass, y, out) && width_of(out) == columns;
  split_weights(pass, node, product, by_columns ? out : Layout{}, false, columns);
  pass.set_work(node, by_columns ? out : Layout{});
  pass.set(y, by_columns ? out : Layout{});
}

// Two activations: heads are a batch of both.
void want_batched(LayoutPass& pass, const Node& node) {
  const Layout& out = pass.wanted(node.outputs[0]);
  const int rank = pass.rank(node.outputs[0]);
  const bool is_batch = is_split(out) && rank > 2 && out.axis < rank - 2;
  for (const ValueId value : node.inputs) {
    const int32_t axis = out.axis - (rank - pass.rank(value));
    const bool has_axis = is_batch && axis >= 0 && axis < pass.rank(value);
    pass.want(value, has_axis && pass.size(value, axis) == width_of(out) ? with_axis(out, axis)
                                                                         : Layout{});
  }
}

void set_batched(LayoutPass& pass, const Node& node) {
  const ValueId y = node.outputs[0];
  const int rank = pass.rank(y);
  Layout result;
  for (const ValueId value : node.inputs) {
    if (!value) continue;
    const Layout& layout = pass.of(value);
    const int32_t axis = layout.axis + (rank - pass.rank(value));
    if (is_split(layout) && axis < rank - 2) {
      const Layout there = with_axis(layout, axis);
      result = is_split(result) ? common_split(result, there) : there;
    } else {
      pass.gather(value);
    }
  }
  pass.set(y, result);
  pass.set_work(node, result);
}

void want_matmul(LayoutPass& pass, const Node& node) {
  if (has_weight(pass, node, product_of(node))) return want_product(pass, node);
  want_batched(pass, node);
}

void set_matmul(LayoutPass& pass, const Node& node) {
  if (has_weight(pass, node, product_of(node))) return set_product(pass, node);
  set_batched(pass, node);
}

// Rows of a vocabulary: each device looks up those it holds, the others' are zero.
ValueId table_of(const Node& node) {
  return node.op_type == "QuantizedGather" ? input(node, 1) : input(node, 0);
}

void set_lookup(LayoutPass& pass, const Node& node) {
  const ValueId table = table_of(node);
  const int64_t rows =
      node.op_type == "QuantizedGather" ? int_attribute(node, "rows", 0) : pass.size(table, 0);
  const bool is_vocabulary =
      rows > 1 && rows == pass.vocabulary_rows && int_attribute(node, "axis", 0) == 0;
  const Layout layout = is_vocabulary ? split(0, {{rows, rows}}, SplitUnit::kElement) : Layout{};
  for (const ValueId value : node.inputs) pass.set_weight(value, layout);
  pass.gather_all(node);
  pass.set(node.outputs[0], {.kind = is_vocabulary ? LayoutKind::kPartial : LayoutKind::kWhole});
}

constexpr LayoutRule kProduct{want_product, set_product};
constexpr LayoutRule kMatMul{want_matmul, set_matmul};
constexpr LayoutRule kLookup{nullptr, set_lookup};

}  // namespace

const LayoutRule* find_matrix_rule(const Node& node) {
  const std::string& op = node.op_type;
  if (op == "MatMul" || op == "FusedMatMul") return &kMatMul;
  if (op == "Gemm" || op == "FusedGemm" || op == "QuantizedMatMul" || op == "MatMulNBits" ||
      op == "MatMulBnb4" || op == "MatMulInteger" || op == "DynamicQuantizeMatMul" ||
      op == "MatMulIntegerToFloat" || op == "QLinearMatMul") {
    return &kProduct;
  }
  if (op == "GatherBlockQuantized" || op == "QuantizedGather") return &kLookup;
  return nullptr;
}

const LayoutRule* find_lookup_rule() { return &kLookup; }

}  // namespace kcharter
