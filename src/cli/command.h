// Commands: one file each (analyze_command.cc …). A command adds its options to the program and
// reports how it went; run() turns that into the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

namespace kcharter {

// How a call went. The exit status is the first that applies: 2 wrong usage, 1 a model could not be
// read, 3 something stayed unknown under --strict, 4 a budget was exceeded, 0 done.
struct Outcome {
  bool wrong_usage = false;
  bool failed = false;
  bool incomplete = false;
  bool over_budget = false;

  int exit_status() const {
    if (wrong_usage) return 2;
    if (failed) return 1;
    if (incomplete) return 3;
    return over_budget ? 4 : 0;
  }
};

void add_analyze_command(CLI::App& program, Outcome& outcome);
void add_publish_command(CLI::App& program, Outcome& outcome);
void add_advise_command(CLI::App& program, Outcome& outcome);
void add_fit_command(CLI::App& program, Outcome& outcome);
void add_overlay_command(CLI::App& program, Outcome& outcome);
void add_export_command(CLI::App& program, Outcome& outcome);
void add_devices_command(CLI::App& program, Outcome& outcome);
void add_validate_command(CLI::App& program, Outcome& outcome);

// "kcharter: <message>" on standard error.
void complain(std::string_view message);

// Runs `work` for one model or document, so that an error in it does not end the call.
template <typename Work>
void attempt(Outcome& outcome, Work work);

// The whole program but for the process around it; returns the exit status.
int run(int argc, const char* const* argv);

}  // namespace kcharter

#include "kcharter/base/error.h"

template <typename Work>
void kcharter::attempt(Outcome& outcome, Work work) {
  try {
    work();
  } catch (const UsageError& error) {
    complain(error.what());
    outcome.wrong_usage = true;
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory");
    outcome.failed = true;
  } catch (const std::exception& error) {
    complain(error.what());
    outcome.failed = true;
  }
}
