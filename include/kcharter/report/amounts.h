// Amounts as people read them: 2.30 GiB, 1.24 B, 2.53 TFLOP.
#pragma once

#include <string>

#include "kcharter/base/integer.h"

namespace kcharter {

// Three significant digits and a binary unit: "512 B", "1.50 KiB", "4.00 GiB".
std::string bytes_text(Int bytes);
// Powers of a thousand: "988", "494 M", "1.24 B", "30.5 B".
std::string count_text(Int count);
// "2.53 TFLOP"
std::string flops_text(Int flops);
// "4.52 ms"
std::string seconds_text(double seconds);
// "1,235,814,400"
std::string grouped_digits(Int value);
// "38 %", "0.4 %", "< 0.1 %", "—" where the whole is 0.
std::string share_text(Int part, Int whole);

}  // namespace kcharter
