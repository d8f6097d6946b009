#include "cli/budget_option.h"

namespace kcharter {

void add_budget_option(CLI::App& command, std::vector<std::string>& budgets) {
  command
      .add_option("--budget", budgets,
                  "Exit with 4 if a quantity of the summary is not below a limit, such as "
                  "total<24GiB; device_total<80GiB of one of several devices; time<50ms on the "
                  "--device; repeatable")
      ->type_name("QUANTITY<LIMIT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::vector<Budget> read_budgets(const std::vector<std::string>& texts) {
  std::vector<Budget> budgets;
  for (const std::string& text : texts) {
    try {
      budgets.push_back(parse_budget(text));
    } catch (const Error& error) {
      throw UsageError(std::string("--budget: ") + error.what());
    }
  }
  return budgets;
}

void check_budgets(std::span<const Budget> budgets, std::span<const Document> documents,
                   const Device* device, Outcome& outcome) {
  for (const Document& document : documents) {
    for (const Budget& budget : budgets) {
      const BudgetResult result = check_budget(budget, document, device);
      if (!result.message.empty()) complain(result.message);
      if (result.state == BudgetState::kExceeded) outcome.over_budget = true;
    }
  }
}

}  // namespace kcharter
