#include <gtest/gtest.h>

#include <cstdio>

#include "truth/shared_files.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using namespace kcharter::truth;
  if (!shared_dir()) std::puts("*** NO SHARED FILES: known counts were NOT compared ***");
  if (!corpus_dir()) std::puts("*** NO CORPUS: real models were NOT read ***");
  const int status = RUN_ALL_TESTS();
  int total = 0;
  for (const auto& [origin, count] : cases()) {
    std::printf("truth: %d cases of %s\n", count, origin.c_str());
    total += count;
  }
  std::printf("truth: %d cases ran\n", total);
  return status;
}
