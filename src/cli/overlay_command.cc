#include <iostream>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/terminal.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/overlay/overlay.h"
#include "kcharter/report/document_folder.h"

namespace kcharter {
namespace {

struct OverlayCommand {
  std::string document, profile, output, format = "table";
};

void run(const OverlayCommand& command) {
  Overlay measured;
  {
    const MappedFile file(command.document);
    const auto bytes = file.bytes();
    try {
      measured = overlay({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, command.profile);
    } catch (Error& error) {
      const bool names_file = std::string_view(error.what()).starts_with(command.profile);
      throw names_file ? error : error.in(command.document);
    }
  }
  if (command.output == "-") {
    std::cout << measured.document;
    return;
  }
  write_whole(command.output.empty() ? command.document : command.output, measured.document);
  if (command.format == "table") std::cout << overlay_table(measured, terminal_width());
}

}  // namespace

void add_overlay_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app = program.add_subcommand("overlay", "Join a runtime's profile to the tree of a document");
  auto command = std::make_shared<OverlayCommand>();
  app->add_option("DOCUMENT", command->document, "A document that `analyze` wrote")->required()->type_name("");
  app->add_option("PROFILE", command->profile,
                  "What ONNX Runtime's profiling wrote, or a trace of PyTorch's profiler")
      ->required()
      ->type_name("");
  app->add_option("-o,--output", command->output,
                  "Where the document goes, measured times in it; default: where it was; -: standard output")
      ->type_name("FILE");
  app->add_option("--format", command->format, "What is shown here: table or none; default table")
      ->check(CLI::IsMember({"table", "none"}))
      ->type_name("FORMAT");
  app->footer(
      "Examples:\n"
      "  kcharter overlay generated/model.decode.json onnxruntime_profile.json\n"
      "  kcharter overlay generated/model.decode.json trace.json -o measured.json");
  app->callback([command, &outcome] { attempt(outcome, [&] { run(*command); }); });
}

}  // namespace kcharter
