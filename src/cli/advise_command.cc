#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis_options.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kcharter/report/advice_report.h"

namespace kcharter {
namespace {

struct AdviseCommand {
  std::vector<std::string> models;
  AnalysisOptions analysis;
  std::string device = "h100-sxm";
  std::string format = "table";
};

void advise_all(const AdviseCommand& command, Outcome& outcome) {
  const AnalyzeOptions options = to_analyze_options(command.analysis);
  const Device device = read_device(command.device);
  std::vector<Document> joint;
  for (const std::string& model : command.models) {
    attempt(outcome, [&] {
      std::vector<Document> documents = analyze_model(model, options);
      if (command.format == "table") {
        std::cout << advice_table(documents, device, terminal_width());
      } else if (command.format == "markdown") {
        std::cout << advice_markdown(documents, device);
      } else {
        for (Document& document : documents) joint.push_back(std::move(document));
      }
    });
  }
  if (command.format == "json") std::cout << advice_json(joint, device);
}

}  // namespace

void add_advise_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app =
      program.add_subcommand("advise", "Say what in models wastes time or memory, and how much");
  auto command = std::make_shared<AdviseCommand>();
  app->add_option("MODEL", command->models, "Models as `analyze` takes them")
      ->required()
      ->type_name("");
  add_analysis_options(*app, command->analysis);
  app->add_option("--device", command->device,
                  "The device to rank by (see `kcharter devices`), default h100-sxm")
      ->type_name("NAME");
  app->add_option("--format", command->format, "table, markdown or json; default table")
      ->check(CLI::IsMember({"table", "markdown", "json"}))
      ->type_name("FORMAT");
  app->footer(
      "Examples:\n"
      "  kcharter advise model.onnx --mode decode --seq 8192 --device a100-sxm-80\n"
      "  kcharter advise model.onnx --as-exported        what a runtime pays that folds nothing\n"
      "  kcharter advise Llama-3-8B/ --format json");
  app->callback([command, &outcome] { attempt(outcome, [&] { advise_all(*command, outcome); }); });
}

}  // namespace kcharter
