#include "kcharter/report/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "kcharter/report/amounts.h"
#include "report/device_figures.h"
#include "report/summary.h"

namespace kcharter {
namespace {

constexpr std::string_view kBytesSuffix = "_bytes";
constexpr std::string_view kDevicePrefix = "device_";
constexpr std::string_view kTime = "time";
constexpr std::string_view kTimeBound = "time_bound";
constexpr size_t kMostDigits = 18;
constexpr double kLongestTime = 1e12;  // seconds

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

[[noreturn]] void refuse_amount(std::string_view text) {
  throw UsageError("'" + std::string(text) + "' is not an amount such as 24GiB, 1.5GB or 4096");
}

[[noreturn]] void refuse_duration(std::string_view text) {
  throw UsageError("'" + std::string(text) + "' is not a time such as 50ms, 1.5s or 80us");
}

constexpr std::pair<std::string_view, int64_t> kTimeUnits[] = {
    {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"µs", 1'000}, {"ns", 1}};

// "1.5 GB": 15, 10, "GB".
struct Number {
  Int digits = 0;
  Int scale = 1;  // of what stands after the point
  std::string_view unit;
};

Number read_number(std::string_view text, void (*refuse)(std::string_view)) {
  const std::string_view amount = trimmed(text);
  Number number;
  std::string digits;
  bool has_point = false;
  size_t at = 0;
  for (; at < amount.size(); ++at) {
    const char c = amount[at];
    if (c == '.' && !has_point) {
      has_point = true;
    } else if (c >= '0' && c <= '9') {
      digits += c;
      if (has_point) number.scale *= 10;
    } else {
      break;
    }
    if (digits.size() > kMostDigits) refuse(text);
  }
  if (digits.empty()) refuse(text);
  number.digits = parse_int(digits);
  number.unit = trimmed(amount.substr(at));
  return number;
}

// What one of `unit` is: "GiB" is 2^30, "TFLOP" 10^12, "" and "B" 1.
Int unit_size(std::string_view unit, std::string_view whole) {
  const std::string lower = lower_case(unit);
  std::string_view rest = lower;
  constexpr std::string_view kPrefixes = "kmgtpe";
  Int size = 1;
  const size_t power = rest.empty() ? std::string_view::npos : kPrefixes.find(rest.front());
  if (power != std::string_view::npos) {
    rest.remove_prefix(1);
    const bool is_binary = rest.starts_with('i');
    if (is_binary) rest.remove_prefix(1);
    for (size_t i = 0; i <= power; ++i) size *= is_binary ? 1024 : 1000;
  }
  if (rest.empty() || rest == "b" || rest == "flop" || rest == "flops") return size;
  refuse_amount(whole);
}

std::string full_name(std::string_view quantity) {
  if (quantity == kTime || quantity == kTimeBound) return std::string(quantity);
  const bool is_device = quantity.starts_with(kDevicePrefix);
  const std::string_view own = is_device ? quantity.substr(kDevicePrefix.size()) : quantity;
  std::string listed;
  for (const std::string_view name : summary_names()) {
    if (name == own || name == std::string(own) + std::string(kBytesSuffix)) {
      return std::string(is_device ? kDevicePrefix : "") + std::string(name);
    }
    const bool is_bytes = name.ends_with(kBytesSuffix);
    listed += ' ';
    listed += is_bytes ? name.substr(0, name.size() - kBytesSuffix.size()) : name;
  }
  throw UsageError("'" + std::string(quantity) + "' is not a quantity; there are" + listed +
                   ", each also after device_, and time time_bound");
}

// A step's time as an entry of the summary: nanoseconds, rounded up.
SummaryEntry time_entry(const Budget& budget, const Document& document, const Device* device) {
  if (device == nullptr) {
    throw UsageError("--budget: '" + budget.text + "' is on a time: give the --device");
  }
  const DeviceFigures figures = device_figures(document, *device);
  SummaryEntry entry{budget.quantity, {std::nullopt, Exactness::kUnknown, Source::kUnknown}, {}};
  if (!figures.time) return entry;
  const double seconds =
      budget.quantity == kTime ? figures.time->estimate.total : figures.time->bound;
  if (!(seconds < kLongestTime)) return entry;
  entry.value = static_cast<Int>(std::ceil(seconds * 1e9));
  entry.quantity.exactness =
      figures.time->complete ? Exactness::kEstimated : Exactness::kLowerBound;
  return entry;
}

SummaryEntry entry_of(const Budget& budget, const Document& document, const Device* device) {
  if (is_time(budget)) return time_entry(budget, document, device);
  const std::string_view name = budget.quantity;
  const bool is_device = name.starts_with(kDevicePrefix);
  const std::string_view own = is_device ? name.substr(kDevicePrefix.size()) : name;
  const std::vector<SummaryEntry> summary =
      is_device ? summarize_device(document) : summarize(document);
  SummaryEntry entry =
      *std::find_if(summary.begin(), summary.end(), [&](const auto& e) { return e.name == own; });
  entry.name = budget.quantity;
  return entry;
}

std::string amount_text(const Budget& budget, Int amount) {
  if (is_time(budget)) return seconds_text(static_cast<double>(amount) / 1e9);
  const bool is_flops = budget.quantity.ends_with("flops");
  return (is_flops ? flops_text(amount) : bytes_text(amount)) + " (" + grouped_digits(amount) + ")";
}

}  // namespace

Int parse_amount(std::string_view text) {
  const Number number = read_number(text, refuse_amount);
  return checked_mul(number.digits, unit_size(number.unit, text)) / number.scale;
}

Int parse_duration(std::string_view text) {
  const Number number = read_number(text, refuse_duration);
  for (const auto& [unit, nanoseconds] : kTimeUnits) {
    if (number.unit == unit) return checked_mul(number.digits, nanoseconds) / number.scale;
  }
  refuse_duration(text);
}

bool is_time(const Budget& budget) {
  return budget.quantity == kTime || budget.quantity == kTimeBound;
}

Budget parse_budget(std::string_view text) {
  const size_t at = text.find('<');
  if (at == std::string_view::npos) {
    throw UsageError("'" + std::string(text) + "' is not QUANTITY<LIMIT, such as total<24GiB");
  }
  Budget budget;
  budget.text = text;
  budget.quantity = full_name(trimmed(text.substr(0, at)));
  std::string_view limit = text.substr(at + 1);
  budget.may_equal = limit.starts_with('=');
  if (budget.may_equal) limit.remove_prefix(1);
  budget.limit = is_time(budget) ? parse_duration(limit) : parse_amount(limit);
  return budget;
}

BudgetResult check_budget(const Budget& budget, const Document& document, const Device* device) {
  const SummaryEntry entry = entry_of(budget, document, device);
  const std::string subject =
      fmt::format("{} ({}): ", document.model.name, name(document.model.mode));
  const std::string limit = fmt::format("budget {}", budget.text);
  if (!entry.value || entry.quantity.exactness == Exactness::kUnknown) {
    return {BudgetState::kUndecided,
            fmt::format("{}{} is unknown, so {} is not decided", subject, entry.name, limit)};
  }
  const bool is_least = entry.quantity.exactness == Exactness::kLowerBound;
  const std::string value =
      fmt::format("{}{} is {}{}", subject, entry.name, is_least ? "at least " : "",
                  amount_text(budget, *entry.value));
  if (budget.may_equal ? *entry.value > budget.limit : *entry.value >= budget.limit) {
    return {BudgetState::kExceeded, is_time(budget)
                                        ? fmt::format("{}, which exceeds {}", value, limit)
                                        : fmt::format("{}, which exceeds {} ({})", value, limit,
                                                      grouped_digits(budget.limit))};
  }
  if (!is_least) return {};
  return {BudgetState::kUndecided,
          fmt::format("{}: part of it is unknown, so {} is not decided", value, limit)};
}

}  // namespace kcharter
