#include <cstdio>
#include <string_view>

#include "cli/command.h"
#include "kcharter/base/version.h"

int main(int argc, char** argv) {
  // Scripts ask for the version often; it needs no options set up.
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("kcharter %s\n", kcharter::version().data());
    return 0;
  }
  return kcharter::run(argc, argv);
}
