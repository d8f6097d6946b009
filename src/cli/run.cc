#include <cstdio>
#include <iostream>
#include <string>

#include "cli/command.h"
#include "kcharter/base/utf8.h"
#include "kcharter/base/version.h"

namespace kcharter {
namespace {

constexpr char kDescription[] =
    "Charts what a machine-learning model is and what it costs, from its files alone: memory,\n"
    "compute and traffic of every module and operator, for prefill and decode.";

constexpr char kExamples[] =
    "Examples:\n"
    "  kcharter analyze model.onnx                       tables here, documents in generated/\n"
    "  kcharter analyze Llama-3-8B/ --seq 8192 --batch 4\n"
    "  kcharter analyze config.json --mode decode --max-seq 131072 --kv-dtype fp8\n"
    "  kcharter fit Llama-3-8B/ --device rtx-4090 --budget 'total<24GiB'\n"
    "  kcharter advise model.onnx --seq 8192              what wastes time or memory\n"
    "  kcharter publish site model.onnx Qwen3-8B/        a static site to browse\n"
    "  kcharter overlay generated/model.decode.json profile.json   measured times beside it\n"
    "  kcharter export generated/model.decode.json --to perfetto -o step.json\n"
    "  kcharter validate generated/model.decode.json\n"
    "\n"
    "`kcharter COMMAND --help` explains one command. Exit status: 0 done, 1 a model could not be\n"
    "read, 2 wrong usage, 3 incomplete under --strict, 4 a budget exceeded.";

}  // namespace

void complain(std::string_view message) {
  std::cout.flush();
  std::cerr << "kcharter: " << printable(message) << '\n';
}

int run(int argc, const char* const* argv) {
  CLI::App program(kDescription, "kcharter");
  program.footer(kExamples);
  program.require_subcommand(1);
  program.set_version_flag("--version", "kcharter " + std::string(version()));
  program.get_formatter()->column_width(34);
  Outcome outcome;
  add_analyze_command(program, outcome);
  add_publish_command(program, outcome);
  add_advise_command(program, outcome);
  add_fit_command(program, outcome);
  add_overlay_command(program, outcome);
  add_export_command(program, outcome);
  add_devices_command(program, outcome);
  add_validate_command(program, outcome);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    std::string message = error.what();
    while (!message.empty() && (message.back() == '\n' || message.back() == '.'))
      message.pop_back();
    complain(message + "; see `kcharter --help`");
    return 2;
  }
  std::cout.flush();
  if (!std::cout) {
    complain("standard output could not be written");
    outcome.failed = true;
  }
  return outcome.exit_status();
}

}  // namespace kcharter
