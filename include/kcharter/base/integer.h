// Exact integers: 128 bits, every operation checked. Sizes of models pass 2^63 when a person turns
// batch and lengths, and a wrapped number looks like a right one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kcharter/base/error.h"

namespace kcharter {

__extension__ typedef __int128 Int;

// Overflow, division by zero, a negative where none is allowed.
class ArithmeticError : public Error {
 public:
  using Error::Error;
};

Int checked_add(Int a, Int b);
Int checked_sub(Int a, Int b);
Int checked_mul(Int a, Int b);
Int floor_div(Int a, Int b);  // rounds towards minus infinity; b must not be 0
Int ceil_div(Int a, Int b);
Int floor_mod(Int a, Int b);  // has the sign of b

std::string to_string(Int value);
// Decimal digits with an optional leading '-'; throws Error on anything else or on overflow.
Int parse_int(std::string_view text);
// Throws ArithmeticError where `value` does not fit.
int64_t to_int64(Int value);

}  // namespace kcharter
