#include "kcharter/base/integer.h"

#include <algorithm>
#include <limits>

namespace kcharter {
namespace {

// std::numeric_limits knows no 128-bit type without compiler extensions.
__extension__ typedef unsigned __int128 UnsignedInt;
constexpr Int kMax = static_cast<Int>(~UnsignedInt{0} >> 1);
constexpr Int kMin = -kMax - 1;

[[noreturn]] void overflow(Int a, const char* operation, Int b) {
  throw ArithmeticError("the number does not fit 128 bits: " + to_string(a) + operation +
                        to_string(b));
}

void check_division(Int a, Int b) {
  if (b == 0) throw ArithmeticError("division of " + to_string(a) + " by zero");
  if (a == kMin && b == -1) overflow(a, "/", b);
}

}  // namespace

Int checked_add(Int a, Int b) {
  Int result;
  if (__builtin_add_overflow(a, b, &result)) overflow(a, "+", b);
  return result;
}

Int checked_sub(Int a, Int b) {
  Int result;
  if (__builtin_sub_overflow(a, b, &result)) overflow(a, "-", b);
  return result;
}

Int checked_mul(Int a, Int b) {
  Int result;
  if (__builtin_mul_overflow(a, b, &result)) overflow(a, "*", b);
  return result;
}

Int floor_div(Int a, Int b) {
  check_division(a, b);
  const Int quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Int ceil_div(Int a, Int b) {
  check_division(a, b);
  const Int quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

Int floor_mod(Int a, Int b) {
  check_division(a, b);
  const Int remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

std::string to_string(Int value) {
  UnsignedInt rest = value < 0 ? -static_cast<UnsignedInt>(value) : static_cast<UnsignedInt>(value);
  if (rest <= std::numeric_limits<uint64_t>::max() >> 1) {
    return std::to_string(static_cast<int64_t>(value));
  }
  std::string digits;
  for (; rest != 0; rest /= 10) digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Int parse_int(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    throw Error("'" + std::string(text.substr(0, 64)) + "' is not an integer");
  }
  Int value = 0;
  for (const char digit : digits) {
    // Downwards, since the most negative number has no positive counterpart.
    value = checked_sub(checked_mul(value, 10), digit - '0');
  }
  return negative ? value : checked_sub(0, value);
}

int64_t to_int64(Int value) {
  if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min()) {
    throw ArithmeticError("the number does not fit 64 bits: " + to_string(value));
  }
  return static_cast<int64_t>(value);
}

}  // namespace kcharter
