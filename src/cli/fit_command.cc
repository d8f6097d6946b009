#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis_options.h"
#include "cli/budget_option.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kcharter/report/fit_report.h"

namespace kcharter {
namespace {

struct FitCommand {
  std::vector<std::string> models;
  AnalysisOptions analysis;
  std::string device;
  std::string overhead;
  std::string format = "table";
  std::vector<std::string> budgets;
};

int64_t read_overhead(const std::string& text) {
  if (text.empty()) return 0;
  try {
    return to_int64(parse_amount(text));
  } catch (const Error& error) {
    throw UsageError(std::string("--overhead: ") + error.what());
  }
}

void fit_all(FitCommand command, Outcome& outcome) {
  command.models = with_pipeline_parts(command.models);
  const AnalyzeOptions options = to_analyze_options(command.analysis);
  const Device device = read_device(command.device);
  const int64_t overhead_bytes = read_overhead(command.overhead);
  const std::vector<Budget> budgets = read_budgets(command.budgets);
  std::vector<Document> joint;
  for (const std::string& model : command.models) {
    attempt(outcome, [&] {
      std::vector<Document> documents = analyze_model(model, options);
      check_budgets(budgets, documents, &device, outcome);
      if (command.format == "table") {
        std::cout << fit_table(documents, device, overhead_bytes, terminal_width());
        return;
      }
      for (Document& document : documents) joint.push_back(std::move(document));
    });
  }
  if (command.format == "json") std::cout << fit_json(joint, device, overhead_bytes);
}

}  // namespace

void add_fit_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app = program.add_subcommand("fit", "Say whether models fit a device, and what would");
  auto command = std::make_shared<FitCommand>();
  app->add_option("MODEL", command->models, "Models as `analyze` takes them")
      ->required()
      ->type_name("");
  add_analysis_options(*app, command->analysis);
  app->add_option("--device", command->device, "The device (see `kcharter devices`)")
      ->required()
      ->type_name("NAME");
  app->add_option("--overhead", command->overhead,
                  "What the runtime takes itself, such as 2GiB, default 0; no part of any --budget")
      ->type_name("BYTES");
  app->add_option("--format", command->format, "table or json; default table")
      ->check(CLI::IsMember({"table", "json"}))
      ->type_name("FORMAT");
  add_budget_option(*app, command->budgets);
  app->footer(
      "Whether it fits does not change the exit status; a --budget does.\n"
      "Examples:\n"
      "  kcharter fit Llama-3-8B/ --device rtx-4090 --seq 8192 --overhead 1GiB\n"
      "  kcharter fit model.onnx --device a10 --mode decode --budget 'total<20GiB' --format json");
  app->callback([command, &outcome] { attempt(outcome, [&] { fit_all(*command, outcome); }); });
}

}  // namespace kcharter
