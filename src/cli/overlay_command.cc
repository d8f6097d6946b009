#include <filesystem>
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

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Overlay join(const OverlayCommand& command) {
  const MappedFile document(command.document), profile(command.profile);
  const std::string source = std::filesystem::path(command.profile).filename().string();
  try {
    return overlay(text_of(document), text_of(profile), source);
  } catch (Error& error) {
    // What is wrong with the profile names it already.
    const bool is_named = std::string_view(error.what()).starts_with(source + ":");
    throw is_named ? error : error.in(command.document);
  }
}

void run(const OverlayCommand& command) {
  const Overlay measured = join(command);
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
