#include <cstdio>
#include <string_view>

#include "kcharter/base/version.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("kcharter %s\n", kcharter::version().data());
    return 0;
  }
  std::fputs("kcharter: only --version is there so far\n", stderr);
  return 2;
}
