// reshape_dims: the dimensions that Reshape gives, with -1 and 0 resolved as formulas.
#pragma once

#include "shape/inference.h"

namespace kcharter {

// a / b where b is known to divide a. Factors that stand on both sides are cancelled one by one, so
// that [batch*tokens, 64] seen as [batch, tokens, -1] gives 64.
Dim exact_quotient(const std::vector<Expr>& numerator, const std::vector<Expr>& denominator);

// Throws Error where a constant target does not hold as many elements as the input.
Shape reshape_dims(const Shape* input, const Elements& target, bool zero_is_zero);

}  // namespace kcharter
