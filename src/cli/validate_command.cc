#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kcharter/base/mapped_file.h"
#include "kcharter/report/validate.h"

namespace kcharter {
namespace {

void validate(const std::string& path, Outcome& outcome) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::vector<std::string> problems =
      validate_document({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::string& problem : problems) complain(path + ": " + problem);
  if (problems.empty()) {
    std::cout << path << ": valid\n";
  } else {
    outcome.failed = true;
  }
}

}  // namespace

void add_validate_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app = program.add_subcommand("validate", "Check documents against the schema");
  auto paths = std::make_shared<std::vector<std::string>>();
  app->add_option("DOCUMENT", *paths, "Documents that `analyze` wrote")->required()->type_name("");
  app->footer("Example:\n  kcharter validate generated/*.json");
  app->callback([paths, &outcome] {
    for (const std::string& path : *paths) attempt(outcome, [&] { validate(path, outcome); });
  });
}

}  // namespace kcharter
