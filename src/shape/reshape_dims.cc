#include "shape/reshape_dims.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "kcharter/ops/dims.h"

namespace kcharter {
namespace {

Expr product_of(const std::vector<Expr>& factors) {
  Expr result = 1;
  for (const Expr& factor : factors) result *= factor;
  return result;
}

// Takes the constants out of `factors` and returns their product.
Int take_constants(std::vector<Expr>& factors) {
  Int result = 1;
  std::erase_if(factors, [&](const Expr& factor) {
    if (!factor.is_constant()) return false;
    result = checked_mul(result, *factor.constant());
    return true;
  });
  return result;
}

Int greatest_common_divisor(Int a, Int b) {
  while (b != 0) {
    const Int rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

void check_counts(const Shape* input, const Shape& output) {
  if (input == nullptr) return;
  const auto before = constant(product(*input, 0, input->size()));
  const auto after = constant(product(output, 0, output.size()));
  if (before && after && *before != *after) {
    throw Error("cannot reshape " + to_string(TensorType{DType::kUnknown, *input}) + " into " +
                to_string(TensorType{DType::kUnknown, output}) + ": " + std::to_string(*before) +
                " elements and " + std::to_string(*after));
  }
}

}  // namespace

Dim exact_quotient(const std::vector<Expr>& numerator, const std::vector<Expr>& denominator) {
  std::vector<Expr> above = numerator;
  std::vector<Expr> below;
  for (const Expr& factor : denominator) {
    const auto twin = std::find(above.begin(), above.end(), factor);
    if (twin == above.end())
      below.push_back(factor);
    else
      above.erase(twin);
  }
  Int top = take_constants(above);
  Int bottom = take_constants(below);
  if (bottom == 0) return std::nullopt;
  if (const Int common = greatest_common_divisor(top, bottom); common > 1) {
    top /= common;
    bottom /= common;
  }
  const Expr dividend = product_of(above) * Expr(top);
  const Expr divisor = product_of(below) * Expr(bottom);
  return divisor == Expr(1) ? dividend : floor_div(dividend, divisor);
}

Shape reshape_dims(const Shape* input, const Elements& target, bool zero_is_zero) {
  Shape output;
  std::vector<Expr> known;
  std::optional<size_t> inferred;  // the axis that takes what is left
  size_t unknown = 0;
  for (size_t i = 0; i < target.size(); ++i) {
    Dim dim = integer(target[i]);
    const auto number = constant(dim);
    if (number == 0 && !zero_is_zero) {
      dim = input != nullptr && i < input->size() ? (*input)[i] : std::nullopt;
    } else if (number && *number < 0) {
      if (*number != -1) throw Error("cannot reshape to a size of " + std::to_string(*number));
      dim = std::nullopt;
    }
    if (dim) known.push_back(*dim);
    // Of several unknown axes none can be inferred; an explicit -1 is one of them.
    if (!dim) {
      ++unknown;
      inferred = i;
    }
    output.push_back(std::move(dim));
  }
  if (unknown == 1 && input != nullptr &&
      std::all_of(input->begin(), input->end(), [](const Dim& dim) { return dim.has_value(); })) {
    std::vector<Expr> dims;
    for (const Dim& dim : *input) dims.push_back(*dim);
    output[*inferred] = exact_quotient(dims, known);
  }
  check_counts(input, output);
  return output;
}

}  // namespace kcharter
