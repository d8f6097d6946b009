#include "ops/einsum.h"

#include <map>
#include <string>

#include "kcharter/ops/dims.h"

namespace kcharter {
namespace {

// The labels of one operand: one character an axis, '.' for the ellipsis.
std::vector<std::string> operand_labels(std::string_view equation) {
  std::vector<std::string> operands(1);
  for (char c : equation.substr(0, equation.find("->"))) {
    if (c == ',')
      operands.emplace_back();
    else if (c == '.' && operands.back().ends_with('.'))
      continue;
    else if (c != ' ')
      operands.back().push_back(c);
  }
  return operands;
}

// The extent of each label, from the first operand that knows it.
std::map<char, Dim> label_extents(const Graph& graph, const Node& node,
                                  const std::vector<std::string>& operands) {
  std::map<char, Dim> extents;
  for (size_t i = 0; i < operands.size(); ++i) {
    int axis = 0;
    int after = static_cast<int>(operands[i].size());
    bool from_end = false;
    for (char label : operands[i]) {
      --after;
      if (label == '.') {
        from_end = true;
        continue;
      }
      Dim extent = input_dim(graph, node, i, from_end ? -1 - after : axis++);
      auto [found, added] = extents.emplace(label, extent);
      // An extent of 1 broadcasts.
      if (!added && extent && (!found->second || *found->second == Expr(1))) found->second = extent;
    }
  }
  return extents;
}

}  // namespace

// Multiply-adds = output elements times the extents of the labels that are summed over; the product
// of more than two operands as if all were multiplied at once, which an implementation may
// undercut. A single operand or one without a summed label multiplies or moves, and is elementwise
// work.
Work einsum_work(const Graph& graph, const Node& node) {
  std::string equation = string_attribute(node, "equation", "");
  std::vector<std::string> operands = operand_labels(equation);
  size_t arrow = equation.find("->");
  Dim products = output_elements(graph, node);
  bool sums = false;
  std::map<char, int> uses;
  for (const std::string& labels : operands) {
    for (char label : labels) ++uses[label];
  }
  for (const auto& [label, extent] : label_extents(graph, node, operands)) {
    bool kept = arrow == std::string::npos ? uses[label] == 1
                                           : equation.find(label, arrow) != std::string::npos;
    if (kept) continue;
    products = times(products, extent);
    sums = true;
  }
  int64_t factors = static_cast<int64_t>(operands.size()) - 1;
  if (!sums || factors == 0) return {.elementwise_flops = sums || factors > 0 ? products : Expr(0)};
  return {.flops = times(Expr(2 * factors), products)};
}

}  // namespace kcharter
