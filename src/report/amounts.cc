#include "kcharter/report/amounts.h"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace kcharter {
namespace {

// Three significant digits of `value` in the largest unit that leaves at least 1; exact below the
// first step.
std::string scaled(Int value, double step, std::span<const std::string_view> units) {
  double amount = static_cast<double>(value);
  const double sign = amount < 0 ? -1 : 1;
  amount *= sign;
  size_t unit = 0;
  // 999.5 would print as 1000.
  while (amount >= (unit == 0 ? step : step - 0.5) && unit + 1 < units.size()) {
    amount /= step;
    ++unit;
  }
  const std::string_view separator = units[unit].empty() ? "" : " ";
  const int digits = unit == 0 || amount >= 99.95 ? 0 : (amount >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f}{}{}", sign * amount, digits, separator, units[unit]);
}

}  // namespace

std::string bytes_text(Int bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return scaled(bytes, 1024, kUnits);
}

std::string count_text(Int count) {
  constexpr std::string_view kUnits[] = {"", "K", "M", "B", "T", "Q"};
  return scaled(count, 1000, kUnits);
}

std::string flops_text(Int flops) {
  constexpr std::string_view kUnits[] = {"FLOP",  "KFLOP", "MFLOP", "GFLOP",
                                         "TFLOP", "PFLOP", "EFLOP", "ZFLOP"};
  return scaled(flops, 1000, kUnits);
}

std::string seconds_text(double seconds) {
  constexpr std::string_view kUnits[] = {"s", "ms", "µs", "ns"};
  size_t unit = 0;
  for (; seconds > 0 && seconds < 0.9995 && unit + 1 < std::size(kUnits); ++unit) seconds *= 1000;
  const int digits = seconds >= 99.95 ? 0 : (seconds >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f} {}", seconds, digits, kUnits[unit]);
}

std::string grouped_digits(Int value) {
  std::string digits = to_string(value);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string share_text(Int part, Int whole) {
  if (whole == 0) return "—";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (part != 0 && percent < 0.1) return "< 0.1 %";
  return fmt::format("{:.{}f} %", percent, percent < 10 ? 1 : 0);
}

}  // namespace kcharter
