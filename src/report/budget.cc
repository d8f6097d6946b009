#include "kcharter/report/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kcharter/report/amounts.h"
#include "report/summary.h"

namespace kcharter {
namespace {

constexpr std::string_view kBytesSuffix = "_bytes";
constexpr size_t kMostDigits = 18;

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
  std::string listed;
  for (const std::string_view name : summary_names()) {
    if (name == quantity || name == std::string(quantity) + std::string(kBytesSuffix)) {
      return std::string(name);
    }
    const bool is_bytes = name.ends_with(kBytesSuffix);
    listed += ' ';
    listed += is_bytes ? name.substr(0, name.size() - kBytesSuffix.size()) : name;
  }
  throw UsageError("'" + std::string(quantity) + "' is not a quantity; there are" + listed);
}

std::string amount_text(const Budget& budget, Int amount) {
  const bool is_flops = budget.quantity.ends_with("flops");
  return (is_flops ? flops_text(amount) : bytes_text(amount)) + " (" + grouped_digits(amount) + ")";
}

}  // namespace

Int parse_amount(std::string_view text) {
  const std::string_view amount = trimmed(text);
  std::string digits;
  Int scale = 1;  // of what stands after the point
  bool has_point = false;
  size_t at = 0;
  for (; at < amount.size(); ++at) {
    const char c = amount[at];
    if (c == '.' && !has_point) {
      has_point = true;
    } else if (c >= '0' && c <= '9') {
      digits += c;
      if (has_point) scale *= 10;
    } else {
      break;
    }
    if (digits.size() > kMostDigits) refuse_amount(text);
  }
  if (digits.empty()) refuse_amount(text);
  return checked_mul(parse_int(digits), unit_size(trimmed(amount.substr(at)), text)) / scale;
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
  budget.limit = parse_amount(limit);
  return budget;
}

BudgetResult check_budget(const Budget& budget, const Document& document) {
  const std::vector<SummaryEntry> summary = summarize(document);
  const SummaryEntry& entry = *std::find_if(
      summary.begin(), summary.end(), [&](const auto& e) { return e.name == budget.quantity; });
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
    return {BudgetState::kExceeded,
            fmt::format("{}, which exceeds {} ({})", value, limit, grouped_digits(budget.limit))};
  }
  if (!is_least) return {};
  return {BudgetState::kUndecided,
          fmt::format("{}: part of it is unknown, so {} is not decided", value, limit)};
}

}  // namespace kcharter
