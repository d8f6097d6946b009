#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis_options.h"
#include "cli/command.h"
#include "kcharter/base/error.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/report/document_folder.h"
#include "kcharter/report/export_document.h"

namespace kcharter {
namespace {

struct ExportCommand {
  std::string document;
  std::string format;
  std::string device = "h100-sxm";
  std::string output = "-";
  std::vector<std::string> set;  // NAME=N
};

const std::map<std::string, ExportFormat> kFormats = {
    {"netron", ExportFormat::kNetron},
    {"model-explorer", ExportFormat::kModelExplorer},
    {"perfetto", ExportFormat::kPerfetto},
};

Bindings read_settings(const std::vector<std::string>& words) {
  Bindings values;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    try {
      if (equals == std::string::npos) throw Error("there is no '='");
      const Int value = parse_int(word.substr(equals + 1));
      if (value < 0) throw Error("it is negative");
      values[word.substr(0, equals)] = value;
    } catch (const Error& error) {
      throw UsageError("--set takes NAME=N, not '" + word + "': " + error.what());
    }
  }
  return values;
}

void run_export(const ExportCommand& command) {
  const Device device = read_device(command.device);
  const Bindings set = read_settings(command.set);
  const MappedFile file(command.document);
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string written;
  try {
    written = export_document(text, kFormats.at(command.format), device, set);
  } catch (UsageError&) {
    throw;
  } catch (Error& error) {
    throw error.in(command.document);
  }
  if (command.output == "-") {
    std::cout << written;
  } else {
    write_whole(command.output, written);
  }
}

}  // namespace

void add_export_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app =
      program.add_subcommand("export", "Write a document for Netron, Model Explorer or Perfetto");
  auto command = std::make_shared<ExportCommand>();
  app->add_option("DOCUMENT", command->document, "A document that `analyze` wrote")
      ->required()
      ->type_name("");
  app->add_option("--to", command->format, "netron, model-explorer or perfetto")
      ->required()
      ->check(CLI::IsMember({"netron", "model-explorer", "perfetto"}))
      ->type_name("FORMAT");
  app->add_option("--device", command->device,
                  "The device that times are for (see `kcharter devices`); default h100-sxm")
      ->type_name("NAME");
  app->add_option("--set", command->set, "A variable of the document; default its own value")
      ->type_name("NAME=N");
  app->add_option("-o,--output", command->output, "Where to; default standard output")
      ->type_name("FILE");
  app->footer(
      "docs/export.md says how each program opens its file.\n"
      "Examples:\n"
      "  kcharter export generated/model.decode.json --to perfetto -o step.json\n"
      "  kcharter export generated/model.decode.json --to netron --set batch_size=8 -o m.json");
  app->callback([command, &outcome] { attempt(outcome, [&] { run_export(*command); }); });
}

}  // namespace kcharter
