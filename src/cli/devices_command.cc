#include <iostream>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/terminal.h"
#include "kcharter/estimate/device.h"
#include "kcharter/report/device_table.h"

namespace kcharter {

void add_devices_command(CLI::App& program, Outcome& outcome) {
  CLI::App* app = program.add_subcommand("devices", "Show the device table, or one device");
  auto name = std::make_shared<std::string>();
  app->add_option("NAME", *name, "A device of the table, or a device file")->type_name("");
  app->footer("Examples:\n  kcharter devices\n  kcharter devices h100-sxm");
  app->callback([name, &outcome] {
    attempt(outcome, [&] {
      try {
        std::cout << (name->empty() ? device_list(device_table(), terminal_width())
                                    : device_details(load_device(*name)));
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {
        throw UsageError(error.what());  // a name that is not in the table
      }
    });
  });
}

}  // namespace kcharter
