// --budget, shared by every command that judges models.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kcharter/report/budget.h"

namespace kcharter {

void add_budget_option(CLI::App& command, std::vector<std::string>& budgets);
// Throws UsageError.
std::vector<Budget> read_budgets(const std::vector<std::string>& texts);
// Complains of every budget that is exceeded or cannot be decided.
void check_budgets(std::span<const Budget> budgets, std::span<const Document> documents,
                   const Device* device, Outcome& outcome);

}  // namespace kcharter
